import { setTimeout as sleep } from "node:timers/promises";

/** The clock for retries and limits; tests pass their own. */
export interface Clock {
  /** Milliseconds since some moment, never set. */
  now(): number;
  /** Rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await sleep(ms, undefined, { signal });
    } catch (error) {
      // The timer rejects with its own AbortError, but callers get the signal's reason.
      signal.throwIfAborted();
      throw error;
    }
  },
};
