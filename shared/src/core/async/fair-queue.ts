/**
 * Lets one caller in at a time: those of one name in the order in which they came, names in turn.
 * So one with a thousand waiting does not keep another from its first.
 */
export type FairQueue = {
  /**
   * Resolves when it is this caller's turn, which lasts until it calls the function it gets.
   * Rejects with the signal's reason, and then has no turn.
   */
  turn(name: string, signal: AbortSignal): Promise<() => void>;
};

/** A queue that remembers a name only while somebody of that name waits. */
export function createFairQueue(): FairQueue {
  /** The name whose turn is next comes first. */
  const waiting = new Map<string, Set<() => void>>();
  let isTaken = false;

  /** Ends a turn of `former`, whose name is the last to have another. */
  function leave(former: string): void {
    const names = [...waiting.keys().take(2)];
    const name = names.find((each) => each !== former) ?? former;
    const callers = waiting.get(name);
    if (callers === undefined) {
      isTaken = false;
      return;
    }
    const [begin] = callers as unknown as readonly [() => void];
    callers.delete(begin);
    waiting.delete(name);
    if (callers.size > 0) waiting.set(name, callers);
    begin();
  }

  return {
    async turn(name, signal) {
      signal.throwIfAborted();
      if (isTaken) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const callers = waiting.get(name) ?? new Set();
        waiting.set(name, callers.add(resolve));
        const giveUp = () => {
          callers.delete(resolve);
          if (callers.size === 0 && waiting.get(name) === callers) waiting.delete(name);
          reject(signal.reason);
        };
        signal.addEventListener("abort", giveUp, { once: true });
        await promise.finally(() => signal.removeEventListener("abort", giveUp));
      }
      isTaken = true;
      let isOver = false;
      return () => {
        if (!isOver) leave(name);
        isOver = true;
      };
    },
  };
}
