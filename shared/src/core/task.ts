import * as z from "zod";
import type { Json } from "./json.ts";
import type { UserMessage } from "./message.ts";
import { foreignTask, type TakenIn } from "./taken-in.ts";

/** The input of an agent's run. */
export type AgentInput = {
  readonly message: UserMessage;
  /** What the caller allows this task to spend; the agent's own limits hold besides. */
  readonly budget?: {
    readonly steps?: number;
    readonly tokens?: number;
    readonly usd?: number;
    readonly wallMs?: number;
  };
  /** A JSON Schema that the answer has to fit. */
  readonly outputSchema?: { readonly [keyword: string]: Json };
  /**
   * What the user said to the first agent of a task that has passed through others; their own words
   * are in the message of a task that has not.
   */
  readonly said?: readonly string[];
  /** What the one who asks has taken in; left out where it does not tell. */
  readonly takenIn?: TakenIn;
  /** Addresses in the message that the agent which asks was free to open itself. */
  readonly given?: readonly string[];
  /**
   * What the caller set for a flow; runs that an earlier version accepted have it in a data part of
   * their message.
   */
  readonly flow?: FlowSettings;
  /** How many agents the task has passed through before this one. */
  readonly hops: number;
};

/**
 * The output of a run that completed: its final answer. Files are in the run's `artifact-added`
 * events.
 */
export type AgentOutput = { readonly answer: string; readonly data?: Json };

/**
 * What a task has taken in when it starts: what its asker had. One that comes from another agent
 * which does not tell may hold anything.
 */
export function takenInAtStart({ hops, takenIn }: Pick<AgentInput, "hops" | "takenIn">): TakenIn {
  return takenIn ?? (hops > 0 ? [foreignTask] : []);
}

/**
 * Under which key of its metadata the message that starts a flow says which agents work on the
 * task, and how.
 */
export const flowSettingsKey = "manyhands/flow";

const mostAgents = 50;

/** What a caller may set for a flow: which agents, and the flow's own options. */
export const flowSettings = z.strictObject({
  agents: z.array(z.string().trim().min(1)).min(1).max(mostAgents).exactOptional(),
  options: z.record(z.string(), z.json()).exactOptional(),
});

/** What a caller sets for a flow. */
export type FlowSettings = {
  readonly agents?: readonly string[];
  readonly options?: { readonly [name: string]: Json };
};

/** Settings as they travel in a message's metadata; nothing where nothing is set. */
export function settingsMetadata({ agents, options }: FlowSettings): NonNullable<UserMessage["metadata"]> {
  const set = { ...(agents && { agents }), ...(options && Object.keys(options).length > 0 && { options }) };
  return Object.keys(set).length === 0 ? {} : { [flowSettingsKey]: set };
}
