import type * as z from "zod";
import type { assignment } from "../assignment.ts";
import type { Rule } from "./rule.ts";

/** A route that a task can take; callers list them as `branches`. */
export type Route = {
  readonly name: string;
  /** Which tasks it is for, in words for the model and for people. */
  readonly when: string;
  readonly rules: readonly Rule[];
  readonly agent: string;
  readonly instruction?: string | undefined;
  readonly settings?: z.output<typeof assignment.settings>;
  readonly deadlineMs?: number | undefined;
};

/**
 * Who made a choice: a rule without any model, the model, the person behind the task, or nobody,
 * which means the default.
 */
type ChosenBy = "rule" | "model" | "person" | "default";

/** The route chosen, by whom and why. */
export type Choice = {
  readonly route: Route;
  readonly by: ChosenBy;
  readonly reason: string;
  /** The model's, from 0 to 1. */
  readonly confidence?: number;
  /** What the person said when choosing, besides a number or a name: it may add to the task. */
  readonly said?: readonly string[];
};

/** Why no route could be chosen. */
export type Unsure = { readonly unsure: string };
