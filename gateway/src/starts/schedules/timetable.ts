import { Cron } from "croner";
import { AppError } from "manyhands/internal/core/errors";

/** The times of a cron expression in a time zone. Times are milliseconds since 1970. */
export type Timetable = {
  /** The first time after this one; undefined if there is none. */
  next(after: number): number | undefined;
  /**
   * The times after `after`, up to and including `until`: the newest, and how many they are, of
   * which no more than `maxCounted` are counted.
   */
  due(after: number, until: number): { readonly newest: number; readonly count: number } | undefined;
};

/** A count of as much means that there may be more. */
export const maxCounted = 100;

/**
 * Reads five fields (or `@daily` and the like). A time that the clocks skip is due at the moment
 * they go forward, once; a time that they repeat is due the first time, unless the hours are given
 * as `*` or as a step, which go by what has passed. Throws `invalid_input`.
 */
export function timetable(cron: string, timeZone: string): Timetable {
  const pattern = patternOf(cron, timeZone);
  const next = (after: number) => pattern.nextRun(new Date(after))?.getTime();
  return {
    next,
    due(after, until) {
      let newest: number | undefined;
      let count = 0;
      for (let time = next(after); time !== undefined && time <= until; time = next(time)) {
        newest = time;
        count++;
        if (count === maxCounted)
          return { newest: pattern.previousRuns(1, new Date(until + 1))[0]?.getTime() ?? newest, count };
      }
      return newest === undefined ? undefined : { newest, count };
    },
  };
}

function patternOf(cron: string, timeZone: string): Cron {
  try {
    // A moment of that zone, because the library looks at it only then.
    new Intl.DateTimeFormat("en", { timeZone });
  } catch (cause) {
    throw new AppError(
      "invalid_input",
      `${JSON.stringify(timeZone)} is not a time zone, such as Europe/Berlin or UTC.`,
      {
        cause,
        field: "timeZone",
      },
    );
  }
  try {
    const pattern = new Cron(cron, { timezone: timeZone, paused: true, mode: "5-part" });
    if (pattern.nextRun() !== null) return pattern;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /, "").slice(0, 200) : "";
    throw new AppError("invalid_input", `${JSON.stringify(cron)} is not a cron expression of five fields: ${why}`, {
      cause,
      field: "cron",
    });
  }
  throw new AppError("invalid_input", `${JSON.stringify(cron)} names no time that ever comes.`, { field: "cron" });
}
