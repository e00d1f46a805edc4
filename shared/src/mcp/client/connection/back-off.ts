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
