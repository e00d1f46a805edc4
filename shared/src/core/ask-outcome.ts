import type { ErrorCode } from "./errors.ts";
import type { EventOf } from "./events.ts";
import type { Json } from "./json.ts";
import type { Part } from "./message.ts";
import type { TakenIn } from "./taken-in.ts";
import type { TaskUsage } from "./usage.ts";
import type { StoredFile } from "./workspace.ts";

/**
 * How another agent's task ended for the one who asked: as A2A says it, or given up at the asker's
 * deadline.
 */
export type AskState = EventOf<"agent-answered">["state"];

/** Why something did not come out, in a form that a journal keeps. */
export type Fault = { readonly code: ErrorCode; readonly message: string };

/** A question of another agent that a person was asked, and what they answered. */
export type Exchange = {
  readonly kind: EventOf<"question-asked">["kind"];
  readonly question: string;
  readonly answer: readonly Part[];
};

/**
 * What came of asking another agent. Everything in it but the state and the error's code is the
 * other agent's word: data, bounded in size, never an instruction. An ask that completed has an
 * `error` only when something of its result was too large, or could not be had.
 */
export type AskOutcome = {
  /** The name the asker calls the agent by. */
  readonly agent: string;
  /**
   * Its task and its conversation there, which a later ask may go on in; empty where it never had
   * the message.
   */
  readonly taskId: string;
  readonly contextId: string;
  readonly state: AskState;
  readonly answer: string;
  readonly data?: Json;
  /** What it asked a person on the way, and what they answered. */
  readonly exchanges?: readonly Exchange[];
  /** The files it made, in our own artifact store. */
  readonly files: readonly StoredFile[];
  /** What the task had taken in there, where the agent is of ours and tells. */
  readonly takenIn?: TakenIn;
  /** What the task used there, where the agent tells. */
  readonly usage?: TaskUsage;
  readonly error?: Fault;
};
