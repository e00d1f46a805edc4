import { type ModelFailure, mayPass } from "./model-failure.ts";

const baseMs = 500;
const capMs = 30_000;
/** A provider that asks for more than this is not waited for. */
const longestRetryAfterMs = 60_000;
const longestTotalMs = 150_000;

/**
 * How long to wait before the next attempt, or undefined when there should be none: exponential
 * with full jitter, never less than the provider asks for, bounded by attempts and by the sum of
 * waits.
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
