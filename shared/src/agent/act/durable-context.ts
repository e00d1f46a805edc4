import type { Part } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import { sourcesIn } from "../../core/taken-in.ts";
import type { DurableContext } from "../../core/tools/tool.ts";
import { storeFile } from "../../machine/workspace/artifacts/artifact-store.ts";
import { openSubBudget } from "../model-call/spending.ts";
import type { AgentState } from "../task/agent-state.ts";
import { placeFiles, type ReceiveDeps } from "../task/receive.ts";
import { userWords } from "../task/user-words.ts";

/**
 * What a durable call may use of its task. `run` is the call's own: a branch if calls run in
 * parallel.
 */
export function durableContext(run: Run, task: AgentState, deps: ReceiveDeps): DurableContext {
  return {
    hops: task.hops,
    answerMs: task.limits.answerMs,
    said: userWords(task),
    takenIn: [...task.takenIn],
    place: (parts) => {
      for (const source of sourcesIn(parts)) task.takenIn.add(source);
      return placeFiles(run, parts, task.received, deps);
    },
    adopt: (parts) => placeFiles(run, parts, undefined, deps),
    attach: (paths) => (paths.length === 0 ? Promise.resolve([]) : attach(run, paths, deps)),
    receiveMessages: (messages) => void task.pendingMessages.push(...messages),
    subBudget: (share) => openSubBudget(task, share),
  };
}

function attach(run: Run, paths: readonly string[], { openWorkspace, artifacts }: ReceiveDeps): Promise<Part[]> {
  return run.step("attach", async () => {
    const workspace = await openWorkspace(run.principal, run.contextId);
    const parts: Part[] = [];
    for (const path of paths) parts.push({ type: "file", ...(await storeFile(workspace, artifacts, path)) });
    return parts;
  });
}
