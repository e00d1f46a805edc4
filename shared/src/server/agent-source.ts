import type { AgentDefinition } from "../core/agent.ts";
import type { Tool } from "../core/tool.ts";
import type { ToolFamily } from "../tools/family.ts";

/**
 * An agent as it is defined: it lists tools, and families of them that the machine makes where it
 * is served.
 */
export type Agent = AgentDefinition<Tool | ToolFamily>;

/** What an agent can count on where it is served: what its prompt and its card may promise. */
export type Offers = {
  /** Whether shell commands or Python can be run. */
  readonly runsCode: boolean;
  /** The libraries that Python has here; undefined where there is no Python. */
  readonly pythonLibraries: readonly string[] | undefined;
  readonly readsWeb: boolean;
  /** Whether addresses can be fetched, repositories among them. */
  readonly fetches: boolean;
  /** Why there is no browser; undefined where there is one. */
  readonly browserMissing: string | undefined;
  /** The agents it can give parts of a task to. */
  readonly delegates: readonly string[];
};

/** An agent, or how it is where these things are on offer. */
export type AgentSource = Agent | ((offers: Offers) => Agent);

/** Where nothing is on offer: enough to learn an agent's name. */
export const noOffers: Offers = {
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
