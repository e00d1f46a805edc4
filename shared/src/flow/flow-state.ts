import type { AgentEntry } from "../core/agent.ts";
import type { Json } from "../core/json.ts";
import type { Part } from "../core/message.ts";
import type { StepContext } from "../core/runs/run.ts";
import { type AgentInput, takenInAtStart } from "../core/runs/task.ts";
import { sourcesIn } from "../core/taken-in.ts";
import { addUsage, noUsage, type TaskUsage } from "../core/usage.ts";
import type { EarlierFlow } from "./earlier.ts";
import type { FlowRequest } from "./flow-request.ts";

/**
 * What one run of a flow may use. Tokens and money count its own model calls and those of the
 * agents it asks.
 */
export type FlowLimits = {
  readonly asks: number;
  readonly tokens: number;
  readonly usd: number;
  /** Milliseconds from the start, not counting waits for a person. */
  readonly wallMs: number;
};

/** What was recorded when the flow started. The start is in milliseconds on the clock of runs. */
export type StartedFlow = FlowRequest & {
  readonly earlier: EarlierFlow;
  /** The agents the flow works with, and others that names in its options may refer to. */
  readonly entries: readonly AgentEntry[];
  readonly known: readonly AgentEntry[];
  readonly limits: FlowLimits;
  readonly contextWindow: number;
  readonly startedAt: number;
  /** The version of the flow's body, for releases whose runs had none of their own. */
  readonly body?: number;
  /** The model with an unknown price, if that makes a cost limit unenforceable. */
  readonly unpriced: string | null;
};

/** The part of the budget that is reserved for work in progress. */
export type BudgetShare = { readonly tokens: number; readonly usd: number };

/**
 * What changes during a flow, shared by its branches. Each execution of the run's body makes it and
 * replay rebuilds it. Fields that depend on the order of branches are read only inside steps.
 */
export type FlowState = {
  readonly begun: StartedFlow;
  /**
   * How many agents the flow's task has passed through, and what its caller allows each agent it
   * asks.
   */
  readonly hops: number;
  /** What the user said, or what the asking agent reports they said. */
  readonly said: string[];
  /** Sources taken in besides that: files, and what the asked agents had taken in. */
  readonly takenIn: Set<string>;
  readonly stepsPerTask: number | undefined;
  spent: TaskUsage;
  reserved: BudgetShare;
  asks: number;
  /**
   * Running branches, including the body, and asks in progress: a branch without an ask may still
   * need a share.
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
   * The schema the caller wants the answer to fit, and the data from the agent whose answer becomes
   * the flow's.
   */
  readonly outputSchema: AgentInput["outputSchema"];
  answerData: Json | undefined;
  /** The caller's messages that the body has not read yet. */
  readonly pendingMessages: string[];
  /** Files the caller has sent since the start. */
  readonly added: Part[];
};

/** The state of a flow that has just started. */
export function newState(
  begun: StartedFlow,
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
    pendingMessages: [],
    added: [],
  };
}

/** Counts usage. An agent that does not report it has used an unknown amount. */
export function spend(state: FlowState, usage: TaskUsage | undefined): void {
  state.spent = addUsage(state.spent, usage ?? { ...noUsage, unpriced: true });
}

/** The milliseconds the flow has worked by now. */
export function workedMs({ begun, pausedMs }: FlowState, { now }: Pick<StepContext, "now">): number {
  return now() - begun.startedAt - pausedMs;
}
