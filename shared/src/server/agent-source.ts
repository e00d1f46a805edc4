import type { AgentDefinition } from "../core/agent.ts";
import type { Tool } from "../core/tools/tool.ts";
import type { ToolFamily } from "../tools/family.ts";

/**
 * An agent's definition: it lists tools, and families of tools that are opened on the machine that
 * serves it.
 */
export type Agent = AgentDefinition<Tool | ToolFamily>;

/** What the serving machine offers an agent, and so what its prompt and card may promise. */
export type Offers = {
  /** Whether plans can be kept. */
  readonly plans: boolean;
  /** Whether shell commands or Python can be run. */
  readonly runsCode: boolean;
  /** The libraries of the machine's Python; undefined without a Python. */
  readonly pythonLibraries: readonly string[] | undefined;
  readonly readsWeb: boolean;
  /** Whether addresses can be fetched, repositories among them. */
  readonly fetches: boolean;
  /** Why there is no browser; undefined if there is one. */
  readonly browserMissing: string | undefined;
  /** The agents that it can delegate parts of a task to. */
  readonly delegates: readonly string[];
};

/** An agent, or a function that makes it from what the serving machine offers. */
export type AgentSource = Agent | ((offers: Offers) => Agent);

/** A machine that offers nothing: enough to learn an agent's name. */
export const noOffers: Offers = {
  plans: false,
  runsCode: false,
  pythonLibraries: undefined,
  readsWeb: false,
  fetches: false,
  browserMissing: "It is switched off.",
  delegates: [],
};

/** The agent of a source. */
export function agentOf(source: AgentSource, offers: Offers): Agent {
  return typeof source === "function" ? source(offers) : source;
}
