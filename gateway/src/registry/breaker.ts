import type { Fetch } from "@manyhands/shared/a2a/client-fetch";
import { AppError } from "@manyhands/shared/errors";

/** How long an agent that fails is left alone. */
export type BreakerPolicy = {
  /** Failures in a row after which it is left alone. */
  readonly failures: number;
  /** The first pause in milliseconds; doubled each time, up to `maxPauseMs`. */
  readonly pauseMs: number;
  readonly maxPauseMs: number;
};

/** `open`: nothing is sent. `trying`: one request is, to see whether the agent is back. */
export type BreakerState = "closed" | "open" | "trying";

/** Keeps requests from an agent that fails, so that neither waits for the other. */
export interface Breaker {
  state(): BreakerState;
  /** Throws `unavailable`, with when it will be tried again, while the agent is left alone. */
  admit(): void;
  succeeded(): void;
  failed(): void;
}

/** A breaker that is closed. `now` is the clock, in milliseconds. */
export function createBreaker(name: string, policy: BreakerPolicy, now: () => number = Date.now): Breaker {
  let failures = 0;
  let retryAt = 0;
  let trying = false;
  const isOpen = () => failures >= policy.failures;
  return {
    state: () => (!isOpen() ? "closed" : trying || now() >= retryAt ? "trying" : "open"),
    admit() {
      if (!isOpen()) return;
      const waitMs = retryAt - now();
      if (waitMs > 0 || trying) {
        const seconds = Math.max(1, Math.ceil(waitMs / 1000));
        throw new AppError("unavailable", `${name} has failed ${failures} times; it is tried again in ${seconds} s.`);
      }
      trying = true;
    },
    succeeded() {
      failures = 0;
      trying = false;
    },
    failed() {
      failures++;
      trying = false;
      const doublings = Math.max(0, failures - policy.failures);
      retryAt = now() + Math.min(policy.pauseMs * 2 ** doublings, policy.maxPauseMs);
    },
  };
}

/**
 * A fetch that a breaker watches. What the agent answers counts as its failure when it is no answer at all or a status that says the server
 * is broken; what the caller aborts counts as nothing, and so do cards, which are how it is found out whether the agent is back.
 */
export function watchedFetch(breaker: Breaker, inner: Fetch): Fetch {
  return async (input, init) => {
    if (isCard(input)) return inner(input, init);
    breaker.admit();
    try {
      const response = await inner(input, init);
      if (response.status === 502 || response.status === 503 || response.status === 504) breaker.failed();
      else breaker.succeeded();
      return response;
    } catch (error) {
      if (init?.signal?.aborted !== true || isLate(init.signal.reason)) breaker.failed();
      throw error;
    }
  };
}

function isCard(input: Parameters<Fetch>[0]): boolean {
  const url = input instanceof Request ? input.url : String(input);
  return new URL(url).pathname.includes("/.well-known/agent");
}

function isLate(reason: unknown): boolean {
  return reason instanceof AppError && reason.code === "timeout";
}
