import { ModelFailure } from "../model-failure.ts";

/**
 * The promise's value; fails as `unavailable` after `ms` of silence, and with the reason when the
 * signal aborts. The caller must stop the underlying work. Needed because the SDK's own timeout
 * covers only the response headers, and because its streams end without an error when aborted.
 */
export async function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const onAbort = () => ended.reject(signal.reason);
  const timer = setTimeout(() => ended.reject(stalled(ms)), ms);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const value = await Promise.race([ended.promise, promise]);
    signal.throwIfAborted();
    return value;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Passes a stream on, with one limit for the silence before the first item with content and one for
 * every later silence.
 */
export async function* watch<T>(
  source: AsyncIterable<T>,
  says: (item: T) => boolean,
  limits: { readonly firstDeltaTimeoutMs: number; readonly idleTimeoutMs: number },
  signal: AbortSignal,
): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  let spoke = false;
  for (;;) {
    const ms = spoke ? limits.idleTimeoutMs : limits.firstDeltaTimeoutMs;
    const next = await within(iterator.next(), ms, signal);
    if (next.done === true) return;
    spoke ||= says(next.value);
    yield next.value;
  }
}

function stalled(ms: number): ModelFailure {
  return new ModelFailure("unavailable", `the answer stalled for ${ms} ms`);
}
