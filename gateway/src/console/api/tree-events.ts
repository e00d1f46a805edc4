import type { SentEvent } from "./events.ts";

/** An event of one of the runs of a tree; `cut` if its texts are shortened. */
export type TreeEvent = {
  readonly runId: string;
  readonly seq: number;
  readonly at: string;
  readonly event: SentEvent;
  readonly cut?: true;
};

/** A run that another one asked for. */
export type Asked = {
  readonly runId: string;
  readonly askId: string;
  readonly id: string;
  readonly name: string;
  readonly place: "here" | "elsewhere";
  readonly followed: boolean;
};
