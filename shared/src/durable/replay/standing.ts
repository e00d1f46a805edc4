import type { RunStore } from "./run-store.ts";

type Standing = Awaited<ReturnType<RunStore["standing"]>>;

/**
 * Asks the store whether a run is still ours: one question for all that ask in one turn, and one
 * after the other. So steps begin in the order in which they asked, though a store of another
 * process may answer in any order. A store that cannot say counts as `held`: the next write tells.
 */
export function standingOf(store: Pick<RunStore, "standing">): () => Promise<Standing> {
  let newest: Promise<Standing> = Promise.resolve("held");
  let next: Promise<Standing> | undefined;
  return () => {
    next ??= newest.then(() => {
      next = undefined;
      newest = store.standing().catch(() => "held");
      return newest;
    });
    return next;
  };
}
