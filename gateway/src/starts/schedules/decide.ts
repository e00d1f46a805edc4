import { AppError, type ErrorCode } from "manyhands/internal/core/errors";
import { type Engine, type Log, terminalStatuses } from "manyhands/internal/core/runs/engine";
import { type BookStore, type Firing, type StartBook, stateOf, withFiring, withState } from "../start-book.ts";
import { type StartDeps, startRunOf } from "../start-run.ts";
import { idOf, type KnownSchedule, prefixOf } from "./known-schedules.ts";
import type { Timetable } from "./timetable.ts";

/** What deciding about a schedule needs. */
export type DecideDeps = StartDeps & {
  readonly book: BookStore;
  readonly engine: Pick<Engine, "get">;
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
export async function decide(
  one: KnownSchedule,
  from: StartBook,
  { at, times, retried, deps }: Deciding,
): Promise<void> {
  const { book, log } = deps;
  const id = idOf(one);
  const state = stateOf(from, id);
  // A schedule of the settings begins when it is first seen. A clock that was set back must not
  // keep it waiting for what was the future; what had started by then has its messageId.
  const until = Math.min(state.until ?? at, at);
  const record = (firing: Firing, next: number) =>
    book.change((now) =>
      withState(now, id, (before) => ({ ...withFiring(before, firing), until: Math.max(before.until ?? next, next) })),
    );
  if (until !== state.until) await book.change((now) => withState(now, id, (before) => ({ ...before, until })));
  const due = times.due(until, at);
  if (due === undefined) return;
  const { newest, count } = due;
  const isLate = at - newest > graceMs;
  const missed = isLate ? count : count - 1;
  const said = missed === 0 ? {} : { missed };
  const fixed = { due: newest, at, ...said };
  if (missed > 0) log.warn({ schedule: one.name, missed, rule: one.missed }, "Times of a schedule were missed.");
  if (isLate && one.missed === "skip") return record({ ...fixed, outcome: "missed" }, newest);
  const messageId = `${prefixOf(one)}/${new Date(newest).toISOString()}`;
  if (one.overlap === "skip" && !retried.has(messageId)) {
    const last = await lastRun(state.firings, deps);
    if (last !== undefined)
      return record({ ...fixed, outcome: "skipped", reason: `its run ${last} has not ended` }, newest);
  }
  try {
    const run = await startRunOf(one, { text: one.task }, messageId, deps);
    await record({ ...fixed, outcome: isLate ? "made-up" : "started", runId: run.id }, newest);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const first = retried.get(messageId) ?? at;
    retried.set(messageId, first);
    if (passing.includes(error.code) && Math.abs(at - first) < patienceMs) return;
    // The messageId is taken by what another task of this schedule has started.
    const isStarted = error.code === "conflict";
    await record({ ...fixed, outcome: isStarted ? "started" : "refused", reason: error.message }, newest);
    log.warn({ schedule: one.name, reason: error.message }, "A schedule could not start its run.");
  }
  retried.delete(messageId);
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
