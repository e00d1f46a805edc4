import type { ScheduleConfig } from "manyhands/internal/config/triggers/trigger-config";
import { AppError } from "manyhands/internal/core/errors";
import type { AddedSchedule, StartBook } from "../start-book.ts";
import { type Timetable, timetable } from "./timetable.ts";

/** A schedule of the settings, or one that was added. */
export type KnownSchedule = Omit<ScheduleConfig, "budget"> &
  Pick<AddedSchedule, "budget" | "byToken"> & { readonly isConfigured: boolean; readonly createdAt?: number };

/** The schedules there are, and their times. */
export type KnownSchedules = {
  all(book: StartBook): readonly KnownSchedule[];
  /** Throws `not_found`. */
  find(book: StartBook, name: string, principal: string): KnownSchedule;
  /** Throws `invalid_input` for times that cannot be read. */
  timesOf(schedule: Pick<KnownSchedule, "cron" | "timeZone">): Timetable;
};

/** Callers choose times, so only so many are remembered. */
const maxTimetables = 1_000;

/**
 * Those of the settings and those of a book. Throws `config_invalid` for times that cannot be read.
 */
export function knownSchedules(configured: readonly ScheduleConfig[]): KnownSchedules {
  const timetables = new Map<string, Timetable>();
  const timesOf: KnownSchedules["timesOf"] = ({ cron, timeZone }) => {
    const key = JSON.stringify([cron, timeZone]);
    const found = timetables.get(key) ?? timetable(cron, timeZone);
    timetables.delete(key);
    timetables.set(key, found);
    const oldest = timetables.keys().next().value;
    if (timetables.size > maxTimetables && oldest !== undefined) timetables.delete(oldest);
    return found;
  };
  for (const one of configured) checkTimes(one, timesOf);
  const ids = new Set(configured.map(idOf));
  const all: KnownSchedules["all"] = ({ schedules }) => [
    ...configured.map((one) => ({ ...one, isConfigured: true })),
    ...schedules.filter((one) => !ids.has(idOf(one))).map((one) => ({ ...one, isConfigured: false })),
  ];
  return {
    all,
    timesOf,
    find(book, name, principal) {
      const found = all(book).find((one) => one.name === name && one.principal === principal);
      if (found !== undefined) return found;
      throw new AppError("not_found", `There is no schedule ${JSON.stringify(name)}.`);
    },
  };
}

/** Names have no `@`. */
export function idOf({ name, principal }: Pick<KnownSchedule, "name" | "principal">): string {
  return `${name}@${principal}`;
}

/** What the messageIds of its runs begin with: another for a schedule that was added again. */
export function prefixOf({ name, createdAt }: KnownSchedule): string {
  return `schedule/${name}${createdAt === undefined ? "" : `/${createdAt}`}`;
}

function checkTimes(one: ScheduleConfig, timesOf: KnownSchedules["timesOf"]): void {
  try {
    timesOf(one);
  } catch (cause) {
    const why = cause instanceof AppError ? cause.message : "";
    throw new AppError("config_invalid", `${one.origin ?? "settings"}: [schedules.${one.name}] ${why}`, { cause });
  }
}
