import type { RunStore } from "./run-store.ts";

type LeaseState = Awaited<ReturnType<RunStore["leaseState"]>>;

/**
 * A process that waits longer for an answer may have hung meanwhile, and the answer be of before.
 */
const freshMs = 1_000;
/** A store that answers late each time is slow, and this process did not hang. */
const maxQuestions = 4;

/**
 * Asks the store whether a run is still ours: one question for all that ask in one turn, and one
 * after the other. So steps begin in the order in which they asked, though a store of another
 * process may answer in any order. A store that cannot say counts as `held`: the next write tells.
 */
export function createLeaseCheck(
  store: Pick<RunStore, "leaseState">,
  now: () => number = () => performance.now(),
): () => Promise<LeaseState> {
  let newest: Promise<LeaseState> = Promise.resolve("held");
  let next: Promise<LeaseState> | undefined;
  const ask = async () => {
    for (let questions = 1; ; questions++) {
      const asked = now();
      const leaseState = await store.leaseState().catch(() => "held" as const);
      if (leaseState !== "held" || now() - asked < freshMs || questions === maxQuestions) return leaseState;
    }
  };
  return () => {
    next ??= newest.then(() => {
      next = undefined;
      newest = ask();
      return newest;
    });
    return next;
  };
}
