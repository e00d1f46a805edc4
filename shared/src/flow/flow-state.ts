import type { AgentEntry } from "../core/agent.ts";
import type { Json } from "../core/json.ts";
import type { Part } from "../core/message.ts";
import type { StepContext } from "../core/run.ts";
import { sourcesIn } from "../core/taken-in.ts";
import { type AgentInput, takenInAtStart } from "../core/task.ts";
import { addUsage, noUsage, type TaskUsage } from "../core/usage.ts";
import type { Earlier } from "./earlier.ts";
import type { FlowRequest } from "./flow-request.ts";

/**
 * What one run of a flow may use. Tokens and money count its own model calls and those of the
 * agents it asks.
 */
export type FlowLimits = {
  readonly asks: number;
  readonly tokens: number;
  readonly usd: number;
  /** Milliseconds from the start, waiting for a person not counted. */
  readonly wallMs: number;
};

/** What was recorded when the flow began. Its start is on the clock of runs, in milliseconds. */
export type Begun = FlowRequest & {
  readonly earlier: Earlier;
  /** The agents the flow works with, and those that a name in its options can mean besides. */
  readonly entries: readonly AgentEntry[];
  readonly known: readonly AgentEntry[];
  readonly limits: FlowLimits;
  readonly contextWindow: number;
  readonly startedAt: number;
  /**
   * The model whose price is not known, when there is a bound on money that cannot be held for
   * that.
   */
  readonly unpriced: string | null;
};

/** What of the budget is set aside for something that is under way. */
export type Share = { readonly tokens: number; readonly usd: number };

/**
 * What changes during a flow, shared by its branches. Made by each execution of the run's body and
 * rebuilt by replay. What depends on the order in which branches come here is read within steps
 * only.
 */
export type FlowState = {
  readonly begun: Begun;
  /**
   * How many agents the flow's task has passed through, and what its caller allows each agent it
   * asks.
   */
  readonly hops: number;
  /** What the user said; of a flow that another agent asks, what that agent says they did. */
  readonly said: string[];
  /** What it has taken in beside that: files, and what the agents it asked had. */
  readonly takenIn: Set<string>;
  readonly stepsPerTask: number | undefined;
  spent: TaskUsage;
  reserved: Share;
  asks: number;
  /**
   * Branches at work, the body being one, and asks under way: who is at work without an ask may
   * need a share yet.
   */
  branches: number;
  underWay: number;
  /** Asks that are still to come, and whether the flow's own model calls need a share too. */
  expected: number;
  ownCalls: boolean;
  /** Milliseconds spent waiting for a person. */
  pausedMs: number;
  reached: string;
  /**
   * The form the caller wants the answer in, and what the agent whose answer is the flow's gave as
   * data.
   */
  readonly outputSchema: AgentInput["outputSchema"];
  answerData: Json | undefined;
  /** What the caller said that the body has not heard yet. */
  readonly inbox: string[];
  /** Files that the caller sent since. */
  readonly added: Part[];
};

/** The state of a flow that has just begun. */
export function newState(
  begun: Begun,
  { hops, said = [], budget, takenIn, outputSchema }: Omit<AgentInput, "message">,
): FlowState {
  const brought = takenInAtStart({ hops, ...(takenIn && { takenIn }) });
  return {
    begun,
    hops,
    said: hops === 0 ? [begun.goal] : [...said],
    takenIn: new Set([...brought, ...sourcesIn(begun.files), ...(begun.earlier.takenIn ?? [])]),
    stepsPerTask: budget?.steps,
    spent: noUsage,
    reserved: { tokens: 0, usd: 0 },
    asks: 0,
    branches: 1,
    underWay: 0,
    expected: 1,
    ownCalls: false,
    pausedMs: 0,
    reached: "",
    outputSchema,
    answerData: undefined,
    inbox: [],
    added: [],
  };
}

/** Counts what was used. An agent that does not tell has used an unknown amount. */
export function spend(state: FlowState, usage: TaskUsage | undefined): void {
  state.spent = addUsage(state.spent, usage ?? { ...noUsage, unpriced: true });
}

/** The milliseconds the flow has worked by now. */
export function workedMs({ begun, pausedMs }: FlowState, { now }: Pick<StepContext, "now">): number {
  return now() - begun.startedAt - pausedMs;
}
