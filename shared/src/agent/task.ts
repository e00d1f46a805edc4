import type { Json } from "../durable/run.ts";
import type { Part } from "./events.ts";

/** What a person or peer sends: the first message of a task, or a later one on it. */
export type UserMessage = {
  readonly messageId: string;
  readonly parts: readonly Part[];
  readonly metadata?: { readonly [key: string]: Json };
};

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
  /** How many agents the task has passed through before this one. */
  readonly hops: number;
};

/** The output of a run that completed: its final answer. Files are in the run's `artifact-added` events. */
export type AgentOutput = { readonly answer: string; readonly data?: Json };

/** The signal under which every later message on a task is delivered, with the messageId as its id. */
export const messageSignal = "message";
