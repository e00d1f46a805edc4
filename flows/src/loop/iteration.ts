import { type AskOutcome, type Flow, outcomeText } from "manyhands/flows";
import type { CheckVerdict } from "./check.ts";

/** One turn of a loop: what came of the work, and what its check said, if it came that far. */
export type Iteration = {
  readonly number: number;
  readonly outcome: AskOutcome;
  readonly verdict: CheckVerdict | undefined;
};

/** What the next iteration is told of this one. */
export function feedbackOf({ outcome, verdict }: Iteration): string {
  return verdict?.feedback ?? `The attempt did not come to an end: ${outcomeText(outcome)}`;
}

/**
 * Whether two iterations came to the same: the same answer, the same files and the same feedback.
 */
export function isSame(one: Iteration, other: Iteration): boolean {
  return signature(one) === signature(other);
}

/**
 * The better of two by the check's score; of equals, and where no score is given, the later. What
 * was not finished is never better.
 */
export function better(best: Iteration | undefined, next: Iteration): Iteration | undefined {
  if (next.outcome.state !== "completed") return best;
  if (best === undefined) return next;
  return (next.verdict?.score ?? 0) >= (best.verdict?.score ?? 0) ? next : best;
}

/** Tells how an iteration ended. */
export function tellIteration(flow: Flow, iteration: Iteration): void {
  const { number, outcome, verdict } = iteration;
  const feedback = feedbackOf(iteration);
  const came = verdict === undefined ? "failed" : verdict.passed ? "passed" : "not_passed";
  const words = came.replace("_", " ");
  flow.tell({
    type: "iteration-ended",
    note: `Iteration ${number}: ${words}: ${feedback}`,
    data: {
      iteration: number,
      agent: outcome.agent,
      outcome: came,
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
