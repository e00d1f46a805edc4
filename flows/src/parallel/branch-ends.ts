/**
 * The ends of branches as they happen, taken one by one. In memory only: a replay produces them
 * again, perhaps in another order.
 */
export type BranchEnds<T> = {
  /** Records the result of the branch at `index`. */
  note(index: number, result: T): void;
  /** Resolves once `count` branches have ended. */
  reached(count: number): Promise<void>;
  /** The first branch that has ended and is not taken yet; call it only if there is one. */
  next(taken: ReadonlyMap<number, unknown>): number;
  /** A branch's result, once it has one. */
  result(index: number): Promise<T>;
};

/** Creates those of `count` branches. */
export function createBranchEnds<T>(count: number): BranchEnds<T> {
  const order: number[] = [];
  const counts = Array.from({ length: count }, () => Promise.withResolvers<void>());
  const results = Array.from({ length: count }, () => Promise.withResolvers<T>());
  return {
    note(index, result) {
      results[index]?.resolve(result);
      counts[order.push(index) - 1]?.resolve();
    },
    reached: async (wanted) => counts[wanted - 1]?.promise,
    next(taken) {
      const index = order.find((one) => !taken.has(one));
      if (index === undefined) throw new RangeError("No branch has ended that is not taken.");
      return index;
    },
    result(index) {
      const found = results[index];
      if (found === undefined) throw new RangeError(`There is no branch ${index}.`);
      return found.promise;
    },
  };
}
