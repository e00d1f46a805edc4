import type { Json } from "../json.ts";
import type { MessageHeard, Part } from "../message.ts";
import type { ToolCall, Usage } from "../model.ts";
import type { QuestionAsked } from "../question.ts";
import type { TakenIn } from "../taken-in.ts";
import type { StoredFile } from "../workspace.ts";
import type { FlowEvent } from "./flow-events.ts";
import type { PeerEvent, PeerProgress } from "./peer-events.ts";

export type { Part };

/**
 * What an agent's run tells, in the words of its journal. The engine adds `run-ended`, `run-paused` and `run-resumed`. Stored in
 * this shape: a field may be added, never changed.
 */
export type AgentEvent =
  /** A message of the user was accepted; the first event of every run, and again for every answer. */
  | {
      readonly type: "message-received";
      readonly messageId: string;
      readonly parts: readonly Part[];
      readonly metadata?: { readonly [key: string]: Json };
    }
  | MessageHeard
  | { readonly type: "step-started"; readonly step: number; readonly maxSteps: number }
  | {
      readonly type: "model-replied";
      readonly text: string;
      readonly toolCalls: readonly ToolCall[];
      readonly usage: Usage;
      /** Of answers that broke off before this one and were asked for again. */
      readonly discarded?: Usage;
      readonly model: string;
      readonly milliseconds: number;
    }
  /** A tool asked the model something for one of its calls. */
  | {
      readonly type: "model-asked";
      readonly callId: string;
      readonly usage: Usage;
      readonly discarded?: Usage;
      readonly model: string;
      readonly milliseconds: number;
    }
  | { readonly type: "tool-started"; readonly callId: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: "tool-ended";
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
      readonly milliseconds: number;
      readonly images?: readonly StoredFile[];
      /** What the result brought into the task, where the tool's name alone does not say. */
      readonly takenIn?: TakenIn;
    }
  /** Older messages were replaced by `summary` in what the model reads; the newest `kept` stayed, and of the user's words before them `pinned`. */
  | {
      readonly type: "context-compacted";
      readonly summary: string;
      readonly kept: number;
      readonly pinned?: number;
      /** What the model call for the summary used, where it answered. */
      readonly usage?: Usage;
      readonly discarded?: Usage;
    }
  | PeerEvent
  | FlowEvent
  | QuestionAsked
  /** Something the run noticed about itself: a repetition, a bound coming near, a cut-off answer, tools that are not there; or that it waits, and how long. */
  | {
      readonly type: "notice-given";
      readonly kind: "stuck" | "budget" | "truncated" | "tools" | "waiting";
      readonly text: string;
      readonly pauseMs?: number;
    }
  /** A file the run made, or its final answer. The answer is the last artifact of a run, and the only one named `answer`. */
  | {
      readonly type: "artifact-added";
      readonly artifactId: string;
      readonly name: string;
      readonly description?: string;
      readonly parts: readonly Part[];
      /** On an answer: what the task had taken in when it gave it. */
      readonly takenIn?: TakenIn;
    };

/** Progress that is shown live and never stored. `void` tells that the deltas since the step began do not count. */
export type AgentProgress =
  | { readonly type: "notice-given"; readonly kind: "tools"; readonly text: string }
  /** `at`: how many characters of the reply came before. Who sees a gap waits for the whole reply. */
  | { readonly type: "text-delta"; readonly text: string; readonly at?: number }
  | { readonly type: "reasoning-delta"; readonly text: string }
  /** A piece of the arguments the model is writing for the call at this place (from 0) of its turn. */
  | { readonly type: "tool-call-delta"; readonly index: number; readonly name: string; readonly arguments: string }
  | { readonly type: "deltas-void"; readonly cause: string }
  | { readonly type: "tool-output"; readonly callId: string; readonly text: string }
  | PeerProgress;
