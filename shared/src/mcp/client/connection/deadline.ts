import { AppError } from "../../../core/errors.ts";

/** A deadline that can be paused. */
export type Deadline = {
  /** Aborts when the time is over, or with the reason of the parent signal. */
  readonly signal: AbortSignal;
  /** Restarts the silence timer. */
  go(): void;
  /** Stops the clock until `go`. */
  pause(): void;
  /** Stops it for good: what was asked meanwhile may come to its end later. */
  end(): void;
};

/**
 * A deadline for an answer of `who`: `silenceMs` from the last `go`, and `wholeMs` in total, pauses
 * excluded.
 */
export function createDeadline(who: string, silenceMs: number, wholeMs: number, under: AbortSignal): Deadline {
  const own = new AbortController();
  let left = wholeMs;
  let since = performance.now();
  let timer: Timer | undefined;
  let isOver = false;
  const stop = () => {
    clearTimeout(timer);
    if (timer !== undefined) left -= performance.now() - since;
    timer = undefined;
  };
  const go = () => {
    stop();
    if (isOver) return;
    since = performance.now();
    const ms = Math.max(1, Math.min(silenceMs, left));
    timer = setTimeout(() => {
      const time = ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1000)} s`;
      own.abort(new AppError("timeout", `The MCP server ${who} did not answer within ${time}.`));
    }, ms);
  };
  const end = () => {
    isOver = true;
    stop();
  };
  go();
  return { signal: AbortSignal.any([under, own.signal]), go, pause: stop, end };
}
