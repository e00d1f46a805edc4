/**
 * Places for a bounded number of branches at once, given out in the order they were asked for. In
 * memory: replay asks again.
 */
export type Slots = {
  /**
   * Does the work once there is a place. Rejects with the signal's reason when it aborts before.
   */
  within<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
};

/** Makes `count` of them. */
export function createSlots(count: number): Slots {
  let free = count;
  const queue: (() => void)[] = [];
  const enter = (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (free > 0) {
      free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.splice(queue.indexOf(take), 1);
        reject(signal.reason);
      };
      const take = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      queue.push(take);
      signal.addEventListener("abort", leave, { once: true });
    });
  };
  return {
    async within(signal, work) {
      await enter(signal);
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}
