import { type ModelFailure, mayPass } from "./model-failure.ts";

const baseMs = 500;
const capMs = 30_000;
/** The longest wait a provider may ask for; beyond it the call is not retried. */
const longestRetryAfterMs = 60_000;
const longestTotalMs = 150_000;

/**
 * How long to wait before the next attempt, or undefined for no further attempt: exponential
 * backoff with full jitter, never less than the provider asks for, limited in attempts and total
 * wait.
 */
export function retryWait(
  failure: ModelFailure,
  made: { readonly attempts: number; readonly waitedMs: number },
  limits: { readonly maxRetries: number; readonly random: () => number },
): number | undefined {
  if (!mayPass(failure)) return undefined;
  if (made.attempts > limits.maxRetries) return undefined;
  const asked = failure.retryAfterMs ?? 0;
  if (asked > longestRetryAfterMs) return undefined;
  const jitter = limits.random() * Math.min(capMs, baseMs * 2 ** (made.attempts - 1));
  const wait = Math.round(asked + jitter);
  return made.waitedMs + wait > longestTotalMs ? undefined : wait;
}
