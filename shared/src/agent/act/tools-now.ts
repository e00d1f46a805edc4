import type { AgentDefinition, ToolsListed } from "../../core/agent.ts";
import type { Tool } from "../../core/tool.ts";
import type { AgentState } from "../task/agent-state.ts";

/** What an agent can call now, and what of that its model is told of. */
export type ToolsNow = {
  readonly callable: readonly Tool[];
  readonly offered: readonly Tool[];
  /** Whose tools it should have and has not. */
  readonly missing: ToolsListed["missing"];
};

/**
 * The agent's tools with those that may change. Used inside steps: between them only what they
 * recorded holds.
 */
export async function toolsNow(
  { tools, moreTools }: Pick<AgentDefinition, "tools" | "moreTools">,
  principal: string,
  messages: AgentState["messages"],
  signal: AbortSignal,
  tell?: (waiting: string) => void,
): Promise<ToolsNow> {
  if (moreTools === undefined) return { callable: tools, offered: tools, missing: [] };
  const own = new Set(tools.map(({ name }) => name));
  const listed = await moreTools.list(principal, signal, tell);
  const more = listed.tools.filter(({ name }) => !own.has(name));
  const told = messages.filter((message) => message.role === "tool");
  const offered = moreTools.offer(more, told);
  return {
    callable: [...tools, ...more, ...offered.filter((tool) => !more.includes(tool))],
    offered: [...tools, ...offered],
    missing: listed.missing,
  };
}
