import { AppError } from "../../../core/errors.ts";

/**
 * Spaces out attempts at something that fails: half a second after the first failure, doubled after
 * each further one, a minute at most.
 */
export type BackOff = {
  /** Milliseconds until the next attempt is allowed. */
  waitMs(): number;
  failed(): void;
  /** It works again: the next failure counts as the first. */
  worked(): void;
};

/** Creates one without failures. `now` is a clock in milliseconds. */
export function createBackOff(now: () => number = () => performance.now()): BackOff {
  let failures = 0;
  let last = 0;
  return {
    waitMs: () => (failures === 0 ? 0 : Math.max(0, last + Math.min(60_000, 500 * 2 ** (failures - 1)) - now())),
    failed() {
      failures += 1;
      last = now();
    },
    worked() {
      failures = 0;
    },
  };
}

/** Waits, or rejects with the signal's reason. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** The value, or the signal's reason as soon as it aborts. The awaited work continues. */
export async function unlessAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([value, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Throws `unavailable` if the next attempt is too far off to wait for. `reason` is why there is a
 * pause.
 */
export function refuseLongWait(name: string, waitMs: number, reason: string | undefined): void {
  if (waitMs <= 2_000) return;
  throw new AppError(
    "unavailable",
    `The MCP server ${name} is not there; the next attempt to reach it is in ${Math.ceil(waitMs / 1000)} s.${reason === undefined ? "" : ` ${reason}`}`,
  );
}
