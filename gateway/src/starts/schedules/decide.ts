import { AppError, type ErrorCode } from "manyhands/internal/core/errors";
import { type Engine, type Log, terminalStatuses } from "manyhands/internal/core/runs/engine";
import { findRunnable } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import {
  type BookStore,
  type Firing,
  type StartBook,
  type StartState,
  stateOf,
  withFiring,
  withState,
} from "../start-book.ts";
import { type StartDeps, startRunOf } from "../start-run.ts";
import { idOf, type KnownSchedule, prefixOf } from "./known-schedules.ts";
import { withLastRun } from "./last-run.ts";
import type { Timetable } from "./timetable.ts";

/** What deciding about a schedule needs. */
export type DecideDeps = StartDeps & {
  readonly runs: Pick<Runs, "started">;
  readonly book: BookStore;
  readonly engine: Pick<Engine, "get" | "events">;
  /** Whether a principal has a token of the system that lets it start runs at this time. */
  readonly hasToken: (principal: string, at: number) => Promise<boolean>;
  readonly log: Log;
};

/** What starts no later than this after its time is on time. Milliseconds. */
const graceMs = 90_000;

/** How long a start is tried again that fails in a way that may pass. Milliseconds. */
const patienceMs = 10 * 60_000;

/** Failures that may pass, such as those of agents that are not known yet. */
const passing: readonly ErrorCode[] = ["not_found", "unavailable", "storage_unavailable", "timeout"];

type Deciding = {
  readonly at: number;
  readonly times: Timetable;
  /** When a start that failed was first tried in this process, by its messageId. */
  readonly retried: Map<string, number>;
  readonly deps: DecideDeps;
};

/**
 * Starts one if it is due, and records what became of all that has been due since the last time.
 */
export async function decide(one: KnownSchedule, from: StartBook, deciding: Deciding): Promise<void> {
  const { at, times, retried, deps } = deciding;
  const { book, log } = deps;
  const state = await settled(one, stateOf(from, idOf(one)), deps);
  // A schedule of the settings begins when it is first seen. A clock that was set back must not
  // keep it waiting for what was the future; what had started by then has its messageId.
  const until = Math.min(state.until ?? at, at);
  const change = (next: (now: StartState) => StartState) => book.change((now) => withState(now, idOf(one), next));
  if (until !== state.until) await change((now) => ({ ...now, until }));
  const due = times.due(until, at);
  if (due === undefined) return;
  const { newest, count } = due;
  const record = (firing: Firing) => change((now) => recorded(now, firing, newest));
  const isLate = at - newest > graceMs;
  const missed = isLate ? count : count - 1;
  const fixed = { due: newest, at, ...(missed > 0 && { missed }) };
  if (missed > 0) log.warn({ schedule: one.name, missed, rule: one.missed }, "Times of a schedule were missed.");
  if (isLate && one.missed === "skip") return record({ ...fixed, outcome: "missed" });
  const messageId = messageIdOf(one, newest);
  if (one.overlap === "skip" && !retried.has(messageId)) {
    const last = await lastRun(state.firings, deps);
    if (last !== undefined) return record({ ...fixed, outcome: "skipped", reason: `its run ${last} has not ended` });
  }
  try {
    await assertWelcome(one, at, deps);
    const { kind } = findRunnable(deps.runnables, one.start);
    // Written first, so that whoever goes on knows which run to look for.
    await change((now) => ({ ...now, starting: { due: newest, at, kind } }));
    const text = await withLastRun(one.task, state.firings, deps.engine);
    const run = await startRunOf(one, text, messageId, deps);
    await record({ ...fixed, outcome: isLate ? "made-up" : "started", runId: run.id });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const first = retried.get(messageId) ?? at;
    retried.set(messageId, first);
    if (passing.includes(error.code) && Math.abs(at - first) < patienceMs) return;
    // The messageId is taken by what another task of this schedule has started.
    const isStarted = error.code === "conflict";
    await record({ ...fixed, outcome: isStarted ? "started" : "refused", reason: error.message });
    log.warn({ schedule: one.name, reason: error.message }, "A schedule could not start its run.");
  }
  retried.delete(messageId);
}

/**
 * The state, with the run of a gateway that was killed between starting it and writing that down.
 */
async function settled(one: KnownSchedule, state: StartState, deps: DecideDeps): Promise<StartState> {
  const { book, runs, notifications, log } = deps;
  if (state.starting === undefined) return state;
  const { due, at, kind } = state.starting;
  const run = await runs.started(kind, messageIdOf(one, due), one.principal);
  if (run === undefined) return state;
  try {
    await notifications.watch(run, one.notify);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log.warn({ schedule: one.name, reason: error.message }, "Nobody is told of a schedule's run.");
  }
  const firing: Firing = { due, at, outcome: at - due > graceMs ? "made-up" : "started", runId: run.id };
  await book.change((now) => withState(now, idOf(one), (before) => recorded(before, firing, due)));
  return recorded(state, firing, due);
}

/** The state in which everything up to `until` has been decided. */
function recorded({ starting, ...state }: StartState, firing: Firing, until: number): StartState {
  const isLeft = starting !== undefined && starting.due > until;
  return {
    ...withFiring(state, firing),
    until: Math.max(state.until ?? until, until),
    ...(isLeft && { starting }),
  };
}

/** What no other time of the schedule has, and no other schedule. */
function messageIdOf(one: KnownSchedule, due: number): string {
  return `${prefixOf(one)}/${new Date(due).toISOString()}`;
}

/** Throws `forbidden` if it was added with a token and its principal has none any more. */
async function assertWelcome({ principal, byToken }: KnownSchedule, at: number, { hasToken }: DecideDeps) {
  if (byToken !== true || (await hasToken(principal, at))) return;
  throw new AppError("forbidden", `${principal} no longer has a token that lets it start runs`);
}

/** The id of its newest run, if that has not ended. */
async function lastRun(
  firings: readonly Firing[],
  { engine }: Pick<DecideDeps, "engine">,
): Promise<string | undefined> {
  const runId = firings.findLast((one) => one.runId !== undefined)?.runId;
  const run = runId === undefined ? undefined : await engine.get(runId);
  return run === undefined || terminalStatuses.includes(run.status) ? undefined : run.id;
}
