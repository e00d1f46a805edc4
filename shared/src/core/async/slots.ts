/**
 * Slots for work of which only so much is done at once, given out in the order of the requests. In
 * memory only; a replay requests them again.
 */
export type Slots = {
  /** Does the work once a slot is free. Rejects with the signal's reason if it aborts before. */
  within<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
};

/** Creates `count` slots. */
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
