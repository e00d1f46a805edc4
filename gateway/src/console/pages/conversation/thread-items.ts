import type { EventOf } from "manyhands/internal/core/events/events";
import type { Part } from "manyhands/internal/core/message";

/** A file of a message or a result. */
export type FilePart = Extract<Part, { type: "file" }>;

/** One call of a tool. */
export type ContributionCall = {
  readonly id: string;
  readonly seq: number;
  readonly name: string;
  readonly arguments: string;
  /** What a person has allowed for the rest of the task, if it was made by that. */
  readonly forTask?: string;
  ended?: { readonly text: string; readonly isError: boolean; readonly milliseconds: number };
  /** Whether it was going on when its run ended. */
  isCut?: boolean;
};

/** What stands in a turn, in order. */
export type TurnPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "notice"; readonly text: string; readonly more?: string }
  | { readonly kind: "recalled"; readonly entries: readonly string[] }
  | { readonly kind: "files"; readonly name: string; readonly files: readonly FilePart[] };

/** What an agent or a flow did and said until another spoke. */
export type Contribution = {
  readonly kind: "turn";
  readonly seq: number;
  readonly at: string;
  readonly who: string;
  /** What it was asked, for an agent that another asked. */
  readonly asked?: string;
  /** The run of an agent that another asked, once it has accepted. */
  taskId?: string;
  readonly parts: TurnPart[];
  readonly calls: ContributionCall[];
  /** What it reports while it works. */
  progress: string[];
  state: "working" | "done" | "failed" | "canceled";
  /** Whether it waits for the answer to its question. */
  isAsking?: boolean;
  error?: string;
  milliseconds: number;
  usd: number;
  unpriced: boolean;
};

/** What a person said. */
export type SaidItem = {
  readonly kind: "said";
  readonly seq: number;
  readonly at: string;
  readonly text: string;
  readonly files: readonly { readonly name: string; readonly size?: number }[];
  /** Whether the run ended before it read this. */
  isUnread: boolean;
};

/** A question to the person, and what became of it. */
export type Question = {
  readonly kind: "question";
  readonly seq: number;
  readonly at: string;
  readonly who: string;
  readonly asked: EventOf<"question-asked">;
  answer?: { readonly text: string; readonly at: string };
  /** Nobody waits for the answer any more. */
  isOver: boolean;
};

/** A line between turns: what a flow reports, or what became of the run. */
export type Note = {
  readonly kind: "note";
  readonly seq: number;
  readonly at: string;
  readonly text: string;
  readonly more?: string;
  readonly tone: "plain" | "good" | "bad" | "wait" | "begun";
};

/** A piece of the conversation. */
export type ThreadItem = Contribution | SaidItem | Question | Note;
