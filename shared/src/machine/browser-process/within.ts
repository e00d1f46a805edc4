import { AppError } from "../../core/errors.ts";

/**
 * The outcome of work that may hang: undefined if it failed or did not finish in time. Work that
 * did not finish continues unobserved.
 */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
  let timer: Timer | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The outcome of work that cannot be stopped, unless the signal aborts first: then its reason is
 * thrown, and the outcome is ignored.
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    done.abort();
  }
}

/**
 * The outcome of work that the browser should have finished well within the time; rejects with
 * `unavailable` if it has not, or if it failed unexpectedly.
 */
export async function answered<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  try {
    return await abortable(work, AbortSignal.timeout(timeoutMs));
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("unavailable", "The browser does not answer, or was ended in the meantime.", { cause });
  }
}
