import type { ScheduleConfig } from "manyhands/internal/config/triggers/trigger-config";
import { AppError } from "manyhands/internal/core/errors";
import type { RunRecord } from "manyhands/internal/core/runs/engine";
import { findRunnable } from "manyhands/internal/runs/runnable";
import { type AddedSchedule, type Firing, type StartBook, stateOf, withFiring, withState } from "../start-book.ts";
import { startRunOf } from "../start-run.ts";
import { type DecideDeps, decide } from "./decide.ts";
import { idOf, type KnownSchedule, type KnownSchedules, knownSchedules, prefixOf } from "./known-schedules.ts";
import { withLastRun } from "./last-run.ts";

/** A schedule as its principal sees it. Times are milliseconds since 1970. */
export type Schedule = KnownSchedule & {
  readonly paused: boolean;
  /** When it is due next; undefined while it is paused. */
  readonly next: number | undefined;
  /** The newest first. */
  readonly firings: readonly Firing[];
};

/** What a principal says to add a schedule. */
export type NewSchedule = Omit<AddedSchedule, "principal" | "createdAt">;

/** The schedules of a system. Those of others are not found. */
export interface Schedules {
  list(principal: string): Promise<readonly Schedule[]>;
  get(name: string, principal: string): Promise<Schedule>;
  /** Rejects with `conflict` if there is one of this name, or too many. */
  add(schedule: NewSchedule, principal: string): Promise<Schedule>;
  /** Rejects with `conflict` for one of the settings. */
  remove(name: string, principal: string): Promise<void>;
  /** While it is paused nothing is due, and nothing is missed. */
  pause(name: string, principal: string): Promise<Schedule>;
  resume(name: string, principal: string): Promise<Schedule>;
  /** Starts it now, whether or not it is due or paused; the same `key` is the same run. */
  runNow(name: string, principal: string, key: string): Promise<RunRecord>;
  /**
   * Starts what is due and says what was missed. Resolves with the time at which something is due
   * next. Any number of gateways may call it, at any time.
   */
  tick(): Promise<number | undefined>;
}

/** What `openSchedules` needs. */
export type SchedulesDeps = DecideDeps & {
  readonly configured: readonly ScheduleConfig[];
  /** The machine's clock, which may be set. */
  readonly now?: () => number;
};

/** Schedules a principal may add. */
const maxSchedules = 100;

/** Opens them. Throws `config_invalid` for one of the settings whose times cannot be read. */
export function openSchedules(deps: SchedulesDeps): Schedules {
  const { book, now = Date.now } = deps;
  const known = knownSchedules(deps.configured);
  const { find } = known;
  const view = (one: KnownSchedule, from: StartBook): Schedule => {
    const { paused = false, firings } = stateOf(from, idOf(one));
    const next = paused ? undefined : known.timesOf(one).next(now());
    return { ...one, paused, next, firings: firings.toReversed() };
  };
  const get = async (name: string, principal: string) => {
    const from = await book.read();
    return view(find(from, name, principal), from);
  };
  const setPaused = async (name: string, principal: string, paused: boolean) => {
    const at = now();
    await book.change((from) =>
      withState(from, idOf(find(from, name, principal)), ({ paused: was = false, ...rest }) => ({
        ...rest,
        paused,
        // What a pause covers was not missed.
        ...(was !== paused && { until: at }),
      })),
    );
    return get(name, principal);
  };
  return {
    get,
    async list(principal) {
      const from = await book.read();
      return known
        .all(from)
        .filter((one) => one.principal === principal)
        .map((one) => view(one, from));
    },
    async add(schedule, principal) {
      known.timesOf(schedule);
      const added = { ...schedule, principal, createdAt: now() };
      await book.change((from) => withAdded(from, added, known));
      return get(schedule.name, principal);
    },
    async remove(name, principal) {
      await book.change((from) => {
        const found = find(from, name, principal);
        if (found.isConfigured)
          throw new AppError(
            "conflict",
            `The schedule ${name} is written in the settings. Pause it, or remove it there.`,
          );
        const { [idOf(found)]: _, ...states } = from.states;
        return { schedules: from.schedules.filter((one) => idOf(one) !== idOf(found)), states };
      });
    },
    pause: (name, principal) => setPaused(name, principal, true),
    resume: (name, principal) => setPaused(name, principal, false),
    async runNow(name, principal, key) {
      const from = await book.read();
      const found = find(from, name, principal);
      const at = now();
      const run = await startedByHand(found, from, key, deps);
      await book.change((from) =>
        withState(from, idOf(found), (state) => withFiring(state, { due: at, at, outcome: "by-hand", runId: run.id })),
      );
      return run;
    },
    tick: ticking(known, deps),
  };
}

/**
 * Starts one by hand, once for each key: the text is not made again, as another run may be the last
 * one by then.
 */
async function startedByHand(
  one: KnownSchedule,
  from: StartBook,
  key: string,
  deps: SchedulesDeps,
): Promise<RunRecord> {
  const messageId = `${prefixOf(one)}/by-hand/${key}`;
  const { kind } = findRunnable(deps.runnables, one.start);
  const before = await deps.runs.started(kind, messageId, one.principal);
  if (before !== undefined) {
    await deps.notifications.watch(before, one.notify);
    return before;
  }
  const text = await withLastRun(one.task, stateOf(from, idOf(one)).firings, deps.engine);
  return startRunOf(one, text, messageId, deps);
}

/** A look at all schedules. */
function ticking(known: KnownSchedules, deps: SchedulesDeps): Schedules["tick"] {
  const { book, log, now = Date.now } = deps;
  const retried = new Map<string, number>();
  return async () => {
    const from = await book.read();
    const at = now();
    const coming: number[] = [];
    for (const one of known.all(from)) {
      if (stateOf(from, idOf(one)).paused) continue;
      const times = known.timesOf(one);
      try {
        await decide(one, from, { at, times, retried, deps });
      } catch (error) {
        log.error({ err: error, schedule: one.name }, "A schedule could not be looked at; it is tried again.");
      }
      coming.push(times.next(at) ?? Number.POSITIVE_INFINITY);
    }
    const next = Math.min(...coming);
    return Number.isFinite(next) ? next : undefined;
  };
}

function withAdded(from: StartBook, added: AddedSchedule, { all }: KnownSchedules): StartBook {
  const own = all(from).filter(({ principal }) => principal === added.principal);
  if (own.some(({ name }) => name === added.name))
    throw new AppError("conflict", `There is a schedule ${added.name}. Remove it first, or take another name.`);
  if (own.length >= maxSchedules)
    throw new AppError("conflict", `You have ${maxSchedules} schedules. Remove one that is no longer needed.`);
  const begun = withState(from, idOf(added), () => ({ until: added.createdAt, firings: [] }));
  return { ...begun, schedules: [...from.schedules, added] };
}
