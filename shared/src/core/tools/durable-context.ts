import type { Part, UserMessage } from "../message.ts";
import type { TakenIn } from "../taken-in.ts";

/** A share of a task's budget, reserved for a task that another agent does for it. */
export type SubBudget = {
  readonly budget: { readonly tokens: number; readonly usd: number; readonly wallMs: number };
  /** Releases the share; what was used of it counts as the task's own spending. */
  release(used: { readonly tokens: number; readonly usd: number; readonly unpriced: boolean } | undefined): void;
};

/** What a durable call may use besides the run. */
export interface DurableContext {
  /**
   * Puts the files among these parts into the workspace, in a step, and returns the parts with the
   * files' names there.
   */
  place(parts: readonly Part[]): Promise<readonly Part[]>;
  /** Like `place`, for files that others made for this task: they count as made by it. */
  adopt(parts: readonly Part[]): Promise<readonly Part[]>;
  /**
   * Files of the workspace as parts, stored in a step. Rejects with an AppError if one cannot be
   * read.
   */
  attach(paths: readonly string[]): Promise<readonly Part[]>;
  /**
   * Adds messages to the conversation that the user sent before the question, and that therefore do
   * not answer it.
   */
  receiveMessages(messages: readonly UserMessage[]): void;
  /**
   * Reserves this share, from 0 to 1, of what remains of the task's budget; time is not divided.
   */
  subBudget(share: number): SubBudget;
  /** How long a question to the person waits for its answer; forever if undefined. */
  readonly answerMs: number | undefined;
  /** How many agents the task has passed through. */
  readonly hops: number;
  /** What the user said, in their own words. */
  readonly said: readonly string[];
  /** What the task has taken in besides the user's words. */
  readonly takenIn: TakenIn;
}
