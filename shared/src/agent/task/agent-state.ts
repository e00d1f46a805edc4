import type { Limits } from "../../core/agent.ts";
import type { Json } from "../../core/json.ts";
import type { Part, UserMessage } from "../../core/message.ts";
import type { ToolCall } from "../../core/model.ts";
import type { Run } from "../../core/run.ts";
import type { StoredFile } from "../../core/workspace.ts";

/**
 * A message as the agent keeps it: files by reference. `to-model-messages.ts` turns it into what a
 * model reads.
 */
export type TaskMessage =
  /** `note`: told in the user's place, but not the user's words. */
  | { readonly role: "user"; readonly parts: readonly Part[]; readonly note?: true }
  | { readonly role: "summary"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly toolCalls: readonly ToolCall[] }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
      readonly images?: readonly StoredFile[];
    };

/**
 * What a task has used up. `usd` counts known prices; `unpriced` tells that some calls had none.
 */
export type Spending = { tokens: number; usd: number; unpriced: boolean; workMs: number };

/** How a task ended by its own doing. */
export type Outcome = { readonly status: "success" | "failure"; readonly summary: string; readonly data?: Json };

/**
 * All that changes during a task. Made by each execution of the run's body and rebuilt by replay;
 * nothing of it is kept on the agent, which many tasks share.
 */
export type AgentState = {
  readonly run: Run;
  /** The task's own bounds, fixed when it began. */
  readonly limits: Limits;
  /** Tokens the model can take at once, fixed when the task began. */
  readonly contextWindow: number;
  /** Tokens of each prompt beside the conversation, about; fixed when the task began. */
  readonly fixedTokens: number;
  /** The day the task began, `YYYY-MM-DD` in UTC. */
  readonly today: string;
  /** The conversation, oldest first; the goal is at `goal`. */
  messages: TaskMessage[];
  /** The message that set the task; compaction never touches it. */
  readonly goal: TaskMessage;
  /** What the user said that the conversation does not have yet. */
  readonly pendingMessages: UserMessage[];
  /** The files the user sent for this task: content hash by the path they got in the workspace. */
  readonly received: Map<string, string>;
  step: number;
  /** Said to the model once, at the tail of its next prompt, and never stored. */
  hints: string[];
  /** The newest prompt's size as the provider counted it, and how many messages it held. */
  measured: { tokens: number; messages: number };
  /**
   * Tokens of the tail of its newest prompt: what it saw around it, the newest image, the hints;
   * the next is taken to be as large.
   */
  observationTokens: number;
  readonly spent: Spending;
  /** What of the rest is lent to tasks that others do for this one. */
  readonly reserved: { tokens: number; usd: number };
  /** How many agents the task has passed through. */
  readonly hops: number;
  /** What the user said to the first of them. */
  readonly said: readonly string[];
  /** Addresses that the agent which gave the task was free to open. */
  readonly given: readonly string[];
  /** What the task and the conversation before it have taken in beside the user's words. */
  readonly takenIn: Set<string>;
  /**
   * Fingerprints of the newest turns, and how long the calls of this turn took in milliseconds, for
   * `unstick`.
   */
  recentTurns: string[];
  callsMs: number;
  outcome: Outcome | undefined;
};
