/**
 * Runs work of the same key one after the other, in the order of the calls, and work of different
 * keys concurrently.
 */
export type KeyedQueue = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** A queue that remembers a key only while work for it is waiting or running. */
export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key);
    const result = (async () => {
      await before?.catch(() => undefined);
      return await work();
    })();
    last.set(key, result);
    try {
      return await result;
    } finally {
      if (last.get(key) === result) last.delete(key);
    }
  };
}
