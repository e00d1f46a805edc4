import { sleep } from "../core/async/sleep.ts";

/** The clock for retries and limits; tests pass their own. */
export interface Clock {
  /** Milliseconds since some moment, never set. */
  now(): number;
  /** Rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => performance.now(), sleep };
