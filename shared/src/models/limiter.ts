import { createFairQueue } from "../core/async/fair-queue.ts";
import { abortable } from "../core/async/within.ts";
import type { Clock } from "./clock.ts";

/**
 * Admits calls to one endpoint: those of one principal in order of arrival, principals in turn.
 */
export interface Limiter {
  /**
   * Waits until a call of about this many tokens may start; rejects with the signal's reason. The
   * caller must call `end` with the tokens actually spent.
   */
  enter(tokens: number, signal: AbortSignal, principal?: string): Promise<{ end(spentTokens: number): void }>;
}

/** The limits of an endpoint, for all its callers together; an omitted one does not apply. */
export type EndpointLimits = {
  /** The same for the same model and key at the same address. */
  readonly endpoint: string;
  readonly concurrency: number | undefined;
  readonly tokensPerMinute: number | undefined;
};

const minute = 60_000;

/**
 * A limiter for calls in flight and for tokens within any minute. A call larger than the limit
 * starts once no other tokens count.
 */
export function createLimiter(
  limits: { readonly concurrency: number; readonly tokensPerMinute?: number | undefined },
  clock: Clock,
): Limiter {
  const queue = createFairQueue();
  let running = 0;
  let freed = Promise.withResolvers<void>();
  let spent: { readonly at: number; tokens: number }[] = [];

  /** Milliseconds until the minute has room for this many tokens. */
  function wait(tokens: number): number {
    if (limits.tokensPerMinute === undefined) return 0;
    const now = clock.now();
    spent = spent.filter((entry) => entry.at > now - minute);
    const sum = spent.reduce((total, entry) => total + entry.tokens, 0);
    const oldest = spent[0];
    if (oldest === undefined || sum + tokens <= limits.tokensPerMinute) return 0;
    return oldest.at + minute - now;
  }

  async function admit(tokens: number, signal: AbortSignal): Promise<{ end(spentTokens: number): void }> {
    while (running >= limits.concurrency) await abortable(freed.promise, signal);
    for (let ms = wait(tokens); ms > 0; ms = wait(tokens)) await clock.sleep(ms, signal);
    const entry = { at: clock.now(), tokens };
    if (limits.tokensPerMinute !== undefined) spent.push(entry);
    running += 1;
    return {
      end(spentTokens) {
        entry.tokens = spentTokens;
        running -= 1;
        freed.resolve();
        freed = Promise.withResolvers();
      },
    };
  }

  return {
    async enter(tokens, signal, principal = "") {
      const leave = await queue.turn(principal, signal);
      try {
        return await admit(tokens, signal);
      } finally {
        leave();
      }
    },
  };
}
