import { type AskOutcome, type Flow, outcomeText } from "manyhands/flows";
import type { CheckVerdict } from "./check.ts";

/** One iteration of a loop: the outcome of the work, and the check's verdict if it was checked. */
export type Iteration = {
  readonly number: number;
  readonly outcome: AskOutcome;
  readonly verdict: CheckVerdict | undefined;
};

/** What the next iteration is sent about this one. */
export function feedbackOf({ outcome, verdict }: Iteration): string {
  return verdict?.feedback ?? `The attempt did not come to an end: ${outcomeText(outcome)}`;
}

/** Whether two iterations have the same result: the same answer, files and feedback. */
export function isSame(one: Iteration, other: Iteration): boolean {
  return signature(one) === signature(other);
}

/**
 * The better of two by the check's score; if equal or without scores, the later one. Unfinished
 * work is never better.
 */
export function better(best: Iteration | undefined, next: Iteration): Iteration | undefined {
  if (next.outcome.state !== "completed") return best;
  if (best === undefined) return next;
  return (next.verdict?.score ?? 0) >= (best.verdict?.score ?? 0) ? next : best;
}

/** Emits how an iteration ended. */
export function tellIteration(flow: Flow, iteration: Iteration): void {
  const { number, outcome, verdict } = iteration;
  const feedback = feedbackOf(iteration);
  const ended = verdict === undefined ? "failed" : verdict.passed ? "passed" : "not_passed";
  const words = ended.replace("_", " ");
  flow.tell({
    type: "iteration-ended",
    note: `Iteration ${number}: ${words}: ${feedback}`,
    data: {
      iteration: number,
      agent: outcome.agent,
      outcome: ended,
      feedback,
      ...(verdict?.score !== undefined && { score: verdict.score }),
    },
  });
}

function signature(iteration: Iteration): string {
  const { answer, files } = iteration.outcome;
  const plain = (text: string) => text.replaceAll(/\s+/g, " ").trim();
  return JSON.stringify([
    plain(answer),
    files.map(({ name, sha256 }) => `${name} ${sha256}`).toSorted(),
    plain(feedbackOf(iteration)),
  ]);
}
