import type { Limits } from "../../core/agent.ts";
import type { Json } from "../../core/json.ts";
import type { Part, UserMessage } from "../../core/message.ts";
import type { AssistantMessage, ModelMessage, ToolMessage } from "../../core/model.ts";
import type { RequestMarks } from "../../core/runs/asked-request.ts";
import type { Run } from "../../core/runs/run.ts";
import type { Observation, Shown } from "../../core/tools/tool.ts";
import type { StoredFile } from "../../core/workspace.ts";

/**
 * A message as the agent keeps it, with files by reference. `to-model-messages.ts` converts it for
 * the model.
 */
export type TaskMessage =
  /**
   * `note`: in the user's role, but not the user's words. `foreign`: of an earlier task, whose
   * sender had taken in what others wrote.
   */
  | { readonly role: "user"; readonly parts: readonly Part[]; readonly note?: true; readonly foreign?: true }
  | { readonly role: "summary"; readonly text: string }
  | AssistantMessage
  | (ToolMessage<StoredFile> & { readonly shows?: Shown })
  | SeenObservation;

/** An observation as the conversation keeps it, before the reply of the model that saw it. */
export type SeenObservation = Omit<Observation, "images"> & {
  readonly role: "observation";
  readonly images?: readonly StoredFile[];
};

/** What a task has used. `usd` counts known prices; `unpriced` means that some calls had none. */
export type Spending = { tokens: number; usd: number; unpriced: boolean; workMs: number };

/** How a task ended itself. */
export type Outcome = { readonly status: "success" | "failure"; readonly summary: string; readonly data?: Json };

/**
 * A message that shows something as it was at one time, and the turn it is from; for those of
 * earlier tasks counted back from 0, the last of them.
 */
export type OpenView = {
  readonly message: Extract<TaskMessage, { role: "tool" | "observation" }>;
  readonly turn: number;
};

/**
 * The views of a conversation. `weighed` is how many were out of date when folding them did not
 * pay.
 */
export type Views = { open: OpenView[]; weighed: number };

/** How far a conversation is converted: the first `count` messages of `of`. */
export type Prompt = { of: readonly TaskMessage[]; count: number; messages: ModelMessage[] };

/**
 * Everything that changes during a task. Each execution of the run's body makes it and replay
 * rebuilds it; nothing of it is kept on the agent, which many tasks share.
 */
export type AgentState = {
  readonly run: Run;
  /** The task's own limits, fixed when it started. */
  readonly limits: Limits;
  /**
   * The model's context window in tokens: as known when the task started, less once the provider
   * says so.
   */
  contextWindow: number;
  /** Estimated tokens of the newest prompt besides the conversation: its system text and tools. */
  fixedTokens: number;
  /** The day the task started, `YYYY-MM-DD` in UTC. */
  readonly today: string;
  /** The conversation, oldest first; it includes `goal`. */
  messages: TaskMessage[];
  /** The message that set the task; compaction never touches it. */
  readonly goal: TaskMessage;
  /**
   * The names of the tools that the conversation has called or needed, which compaction does not
   * forget.
   */
  readonly called: Set<string>;
  /** The user's messages that are not in the conversation yet. */
  readonly pendingMessages: UserMessage[];
  /** The files the user sent for this task: content hash by path in the workspace. */
  readonly received: Map<string, string>;
  turn: number;
  /** Shown to the model once, at the end of its next prompt; never stored. */
  hints: string[];
  /** The newest prompt's size as the provider counted it, and how many messages it had. */
  measured: { tokens: number; messages: number };
  /** Tokens of the newest prompt's tail, the hints. The next tail is assumed to be as large. */
  tailTokens: number;
  /** The views in `messages` that are not folded; `think/views.ts` keeps them. */
  readonly views: Views;
  /** `messages` as the model reads them; `think/prompt.ts` keeps it up to date. */
  readonly prompt: Prompt;
  /** The newest request to the model, which the next one is recorded by. */
  asked?: RequestMarks | undefined;
  readonly spent: Spending;
  /** Tokens of `spent` that looking into the memory used, before the model was asked. */
  recallTokens?: number;
  /** The part of the rest that is reserved for tasks of other agents. */
  readonly reserved: { tokens: number; usd: number };
  /** How many agents the task has passed through. */
  readonly hops: number;
  /** What the user said to the first agent. */
  readonly said: readonly string[];
  /** Addresses that the asking agent was allowed to open. */
  readonly given: readonly string[];
  /** Sources that the task and the earlier conversation have taken in, besides the user's words. */
  readonly takenIn: Set<string>;
  /** What a person has allowed for the rest of this task: the `forTask` of planned calls. */
  readonly allowed: Set<string>;
  /**
   * Fingerprints of the newest turns, and the milliseconds this turn's calls took, for
   * `detectLoops`.
   */
  recentTurns: string[];
  callsMs: number;
  /** Whether the model was told that its text cannot be the answer. */
  doubted: boolean;
  outcome: Outcome | undefined;
};
