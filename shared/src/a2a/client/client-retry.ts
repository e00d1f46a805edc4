import { sleep } from "../../core/async/sleep.ts";
import { callError } from "./client-error.ts";

/** How often a call is retried, and how long it waits between attempts. */
export type RetryPolicy = {
  /** Attempts after the first. */
  readonly retries: number;
  /** The first pause in milliseconds; each next one is twice as long, ten seconds at most. */
  readonly firstPauseMs: number;
};

/** How one client retries, and what its errors call the agent. */
export type ClientRetry = RetryPolicy & { readonly agent?: string };

/**
 * Retries a call while its failure may be temporary. Rejects with an AppError, or with the signal's
 * reason.
 */
export async function retrying<Value>(
  policy: ClientRetry,
  signal: AbortSignal | undefined,
  call: () => Promise<Value>,
): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      signal?.throwIfAborted();
      const failure = callError(error, policy.agent);
      if (!failure.retryable || attempt > policy.retries) throw failure;
      await pause(policy, attempt, signal);
    }
  }
}

/**
 * Waits before attempt `attempt + 1`, with jitter so that many callers do not come back at once.
 */
export async function pause(policy: RetryPolicy, attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(policy.firstPauseMs * 2 ** (attempt - 1), 10_000);
  await sleep(longest * (0.5 + Math.random() / 2), signal);
}
