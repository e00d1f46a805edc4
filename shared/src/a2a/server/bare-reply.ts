import { type Message, Role, type Task } from "@a2a-js/sdk";
import type { RunRecord } from "../../core/runs/engine.ts";
import type { AgentOutput } from "../../core/runs/task.ts";

/**
 * The message that a caller gets in place of a task whose answer is a mere reply; undefined for any
 * other task. It names no task, because there is nothing to continue: clients that know of a task
 * name it in their next message.
 */
export function bareReply({ status, output }: RunRecord, task: Task): Message | undefined {
  const { reply } = (output ?? {}) as Partial<AgentOutput>;
  const [answer, ...others] = task.artifacts;
  if (status !== "completed" || reply !== true || answer === undefined || others.length > 0) return undefined;
  return {
    messageId: answer.artifactId,
    contextId: task.contextId,
    taskId: "",
    role: Role.ROLE_AGENT,
    parts: answer.parts,
    metadata: task.metadata,
    extensions: [],
    referenceTaskIds: [],
  };
}
