import type { InputBurst } from "../../core/live-page.ts";

/** How long a request waits for the one before it, which may never come. */
const lateMs = 2_000;
const maxKnown = 64;

/**
 * The order of requests that were sent before the answer to the one before: they come over several
 * connections, and a click must not overtake the letters that follow it.
 */
export interface Bursts {
  /**
   * Resolves once the request before has begun, or is too late; from then on, this one has begun.
   */
  turn(burst: InputBurst): Promise<void>;
}

/** None has begun yet. */
export function createBursts(): Bursts {
  const begun = new Map<string, number>();
  let wake = Promise.withResolvers<void>();
  const isNext = ({ id, number }: InputBurst) => number === 0 || (begun.get(id) ?? -1) >= number - 1;
  return {
    async turn(burst) {
      const late = AbortSignal.timeout(lateMs);
      const over = new Promise<void>((done) => late.addEventListener("abort", () => done(), { once: true }));
      while (!isNext(burst) && !late.aborted) await Promise.race([wake.promise, over]);
      begun.set(burst.id, Math.max(begun.get(burst.id) ?? 0, burst.number));
      for (const id of begun.keys()) if (begun.size > maxKnown) begun.delete(id);
      wake.resolve();
      wake = Promise.withResolvers();
    },
  };
}
