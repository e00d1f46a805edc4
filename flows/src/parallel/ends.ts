/** The ends of branches as they come, for whoever takes them one by one. In memory: replay brings them again, perhaps in another order. */
export type Ends<T> = {
  /** The branch at `index` has come to this. */
  note(index: number, result: T): void;
  /** Resolves once `count` branches have ended. */
  reached(count: number): Promise<void>;
  /** The first that has ended and is not taken yet; call it only when there is one. */
  next(taken: ReadonlyMap<number, unknown>): number;
  /** What a branch came to, once it has. */
  result(index: number): Promise<T>;
};

/** Makes them for `count` branches. */
export function createEnds<T>(count: number): Ends<T> {
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
