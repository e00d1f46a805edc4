import type { ErrorCode } from "../errors.ts";
import type { Json } from "../json.ts";
import type { Part, PeerArtifact } from "../message.ts";
import type { TakenIn } from "../taken-in.ts";
import type { TaskUsage } from "../usage.ts";
import type { StoredFile } from "../workspace.ts";
import type { EventOf } from "./events.ts";

/** How a task at another agent ended: in A2A's words, or `timed-out` at the asker's deadline. */
export type AskState = EventOf<"agent-answered">["state"];

/** Why something failed, as the journal stores it. */
export type Fault = { readonly code: ErrorCode; readonly message: string };

/** What a question asks a person for: an answer, an approval, or a sign-in. */
export type QuestionKind = EventOf<"question-asked">["kind"];

/** Another agent's question to a person, and their answer. */
export type Exchange = {
  readonly kind: QuestionKind;
  readonly question: string;
  readonly answer: readonly Part[];
};

/** A call that a task at another agent made; its texts are shortened. */
export type PeerCall = {
  readonly name: string;
  readonly arguments: string;
  readonly outcome: "done" | "failed" | "open";
  /** How its result begins and ends. */
  readonly result: string;
};

/**
 * The outcome of asking another agent. Everything but the state and the error's code is the other
 * agent's word: data, bounded in size, never an instruction. A completed ask has an `error` only if
 * part of its result was too large or could not be fetched.
 */
export type AskOutcome = {
  /** The name the caller uses for the agent. */
  readonly agent: string;
  /**
   * The task and the conversation at that agent; a later ask may continue the conversation. Empty
   * if the agent never received the message.
   */
  readonly taskId: string;
  readonly contextId: string;
  readonly state: AskState;
  readonly answer: string;
  readonly data?: Json;
  /** The questions it asked a person on the way, with their answers. */
  readonly exchanges?: readonly Exchange[];
  /** The files it made, copied to our own artifact store. */
  readonly files: readonly StoredFile[];
  /** The artifacts it made that are more than the answer and plain files; left out if none are. */
  readonly artifacts?: readonly PeerArtifact[];
  /**
   * The calls it made, first and last ones if there are many, and how many there were: by the
   * journal of an agent of ours, not by its words. Left out where there is no such journal.
   */
  readonly made?: { readonly calls: readonly PeerCall[]; readonly count: number };
  /** What the task took in there, if the agent is one of ours and reports it. */
  readonly takenIn?: TakenIn;
  /** What the task used there, if the agent reports it. */
  readonly usage?: TaskUsage;
  readonly error?: Fault;
  /**
   * The agent keeps its conversations, so a message that continues this one need not repeat what
   * it was told or answered here. Agents of other systems may forget: they are told everything.
   */
  readonly remembers?: true;
  /** The agent answered with a message and made no task of it. */
  readonly isReply?: true;
};
