import type { AgentDefinition, ToolsListed } from "../../core/agent.ts";
import type { Tool } from "../../core/tool.ts";
import type { AgentState } from "../task/agent-state.ts";

/** The tools an agent can call now, and those its model is offered. */
export type ToolsNow = {
  readonly callable: readonly Tool[];
  readonly offered: readonly Tool[];
  /** The sources whose tools are unavailable. */
  readonly missing: ToolsListed["missing"];
};

/**
 * The agent's tools and those that may change. Only for use inside steps, since the set is not
 * deterministic.
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
