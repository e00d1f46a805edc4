import type { Log } from "manyhands/internal/core/runs/engine";
import type { Schedules } from "./schedules.ts";

/**
 * The longest time between two looks, milliseconds: another gateway may have added a schedule, and
 * a clock may be set.
 */
const longestMs = 15_000;
const shortestMs = 200;

/** Looks at the schedules whenever one is due, until it is stopped. Returns what stops it. */
export function startScheduler(schedules: Pick<Schedules, "tick">, log: Log, now: () => number = Date.now): () => void {
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = async () => {
    let next: number | undefined;
    try {
      next = await schedules.tick();
    } catch (error) {
      if (!isStopped) log.error({ err: error }, "The schedules could not be read; they are read again.");
    }
    if (!isStopped) later(next === undefined ? longestMs : Math.min(longestMs, Math.max(shortestMs, next - now())));
  };
  const later = (ms: number) => {
    timer = setTimeout(() => void look(), ms);
    timer.unref();
  };
  later(0);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
