import * as z from "zod";
import type { Json } from "../json.ts";
import type { UserMessage } from "../message.ts";
import { foreignTask, type TakenIn } from "../taken-in.ts";
import type { Trace } from "../trace.ts";

/** The input of an agent's run. */
export type AgentInput = {
  readonly message: UserMessage;
  /** What the caller allows this task to spend; the agent's own limits apply too. */
  readonly budget?: {
    readonly steps?: number;
    readonly tokens?: number;
    readonly usd?: number;
    readonly wallMs?: number;
  };
  /** A JSON Schema that the answer must fit. */
  readonly outputSchema?: { readonly [keyword: string]: Json };
  /** Set for a caller that takes no text over A2A: its answer is shown as data. */
  readonly answerAs?: "data";
  /**
   * What the user said to the first agent, if the task has passed through other agents. Otherwise
   * the user's words are in `message`.
   */
  readonly said?: readonly string[];
  /** What the asking agent has taken in; left out if it does not report that. */
  readonly takenIn?: TakenIn;
  /** Addresses in the message that the asking agent was itself allowed to open. */
  readonly given?: readonly string[];
  /**
   * What the caller set for a flow. Runs accepted by an earlier version have it in a data part of
   * their message.
   */
  readonly flow?: FlowSettings;
  /** The caller's trace, if it sent one. */
  readonly trace?: Trace;
  /** How many agents the task has passed through before this one. */
  readonly hops: number;
};

/**
 * The output of a completed run: its final answer. Files are in the run's `artifact-added` events.
 */
export type AgentOutput = {
  readonly answer: string;
  readonly data?: Json;
  /**
   * The answer is a mere reply: over A2A, a caller that waits for it gets a message instead of a
   * task.
   */
  readonly reply?: true;
};

/**
 * What a task has taken in when it starts: what the asking agent had taken in. A task from an agent
 * that does not report its sources may contain anything.
 */
export function takenInAtStart({ hops, takenIn }: Pick<AgentInput, "hops" | "takenIn">): TakenIn {
  return takenIn ?? (hops > 0 ? [foreignTask] : []);
}

/**
 * The metadata key under which the first message of a flow names the agents to use and the flow's
 * options.
 */
export const flowSettingsKey = "manyhands/flow";

const maxAgents = 50;

/** Schema of what a caller may set for a flow: its agents and its options. */
export const flowSettings = z.strictObject({
  agents: z.array(z.string().trim().min(1)).min(1).max(maxAgents).exactOptional(),
  options: z.record(z.string(), z.json()).exactOptional(),
});

/** What a caller sets for a flow. */
export type FlowSettings = {
  readonly agents?: readonly string[];
  readonly options?: { readonly [name: string]: Json };
};

/** The message metadata that carries these settings; empty if nothing is set. */
export function settingsMetadata({ agents, options }: FlowSettings): NonNullable<UserMessage["metadata"]> {
  const set = { ...(agents && { agents }), ...(options && Object.keys(options).length > 0 && { options }) };
  return Object.keys(set).length === 0 ? {} : { [flowSettingsKey]: set };
}
