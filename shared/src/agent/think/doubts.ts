import type { Workspace } from "../../core/workspace.ts";
import type { Doubts, RecordedReply } from "../model-call/call-model.ts";
import type { AgentState } from "../task/agent-state.ts";
import { notMade, unmadeFiles } from "../task/unmade-files.ts";

type FinalReply = Pick<RecordedReply, "text" | "toolCalls" | "finish">;

/**
 * What speaks against taking this answer as the end of its task, by what code can see: small models
 * write calls into their text, and say that they made what they did not. Only for use inside steps.
 */
export async function doubtsAbout(
  { text, toolCalls, finish }: FinalReply,
  task: AgentState,
  { toolNames, openWorkspace }: { readonly toolNames: readonly string[]; openWorkspace(): Promise<Workspace> },
): Promise<Doubts | undefined> {
  if (toolCalls.length > 0 || finish !== "stop" || toolNames.length === 0) return undefined;
  const { calledInText } = await import("../../models/chat/text-calls.ts");
  const spelledCall = calledInText(text, toolNames);
  const unmade = await unmadeFiles(task, openWorkspace);
  if (spelledCall === undefined && unmade.length === 0) return undefined;
  return { ...(spelledCall !== undefined && { spelledCall }), ...(unmade.length > 0 && { unmade }) };
}

/** Whether this task, apart from the conversation before it, has called a tool. */
function hasCalled({ messages, goal }: Pick<AgentState, "messages" | "goal">): boolean {
  return messages.slice(messages.indexOf(goal)).some(({ role }) => role === "tool");
}

/**
 * What is done about doubts: the model is told once; the second time the task has failed, unless it
 * has done something meanwhile. Undefined if the answer stands.
 */
export function answerDoubts(
  { spelledCall, unmade = [] }: Doubts,
  task: Pick<AgentState, "doubted" | "messages" | "goal">,
): { readonly hint: string } | { readonly failure: string } | undefined {
  const isFirst = !task.doubted;
  const files = unmade.join(", ");
  if (spelledCall !== undefined && isFirst)
    return {
      hint: `Your message has a call of ${spelledCall} in its text, so nothing was called. Make the call itself, with no text around it; or answer in text without a call.`,
    };
  if (unmade.length > 0 && isFirst)
    return {
      hint: hasCalled(task)
        ? notMade(unmade)
        : `You have called no tool, and the task asks for ${files}, which does not exist. Do it now with your tools. If it cannot be done, call terminate with status failure, or say so.`,
    };
  if (hasCalled(task)) return undefined;
  const what = unmade.length > 0 ? `${files} was to be made and does not exist` : "its calls were only written as text";
  return {
    failure: `The model called no tool: ${what}. A model without function calling works with \`tools = false\` in [llm.capabilities]; others need a chat template that has tools.`,
  };
}
