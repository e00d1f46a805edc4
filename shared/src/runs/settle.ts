import { type Engine, type FollowItem, type RunRecord, terminalStatuses } from "../core/runs/engine.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "./projection.ts";
import type { ProjectionCache } from "./projection-cache.ts";

/** What watching a run needs. */
export type Watched = { readonly engine: Engine; readonly projections: ProjectionCache };

/**
 * How many milliseconds a caller waits for a canceled run to stop before it is told that the run is
 * still stopping.
 */
const stopMs = 10_000;

/** Events that need no live watching; any other event means work that takes time. */
const quiet: ReadonlySet<string> = new Set(["message-received", "message-heard", "artifact-added"]);

/** Whether a run has ended, is paused, or waits for its caller, so that a blocking call returns. */
function isSettled({ end, question, paused }: TaskProjection, run?: RunRecord): boolean {
  if (end !== undefined || question !== undefined || paused) return true;
  if (run === undefined) return false;
  const waits = run.waiting?.reason === "input-required" || run.waiting?.reason === "auth-required";
  return terminalStatuses.includes(run.status) || (run.status === "waiting" && waits);
}

/**
 * Waits until the run has ended, is paused or waits for its caller, until `caller` aborts, or for
 * `maxMs`.
 */
export async function untilSettled(
  watched: Watched,
  run: RunRecord,
  caller: AbortSignal,
  maxMs?: number,
): Promise<void> {
  const known = watched.projections.known(run.id);
  if (maxMs === 0 || isSettled(known.seq < run.lastEvent ? emptyProjection : known, run)) return;
  await watchUntil(watched, run, known, within(caller, maxMs), () => false);
}

/** Like `untilSettled`, but returns as soon as there is something to watch. */
export function whileQuiet(
  watched: Watched,
  run: RunRecord,
  caller: AbortSignal,
  maxMs: number | undefined,
): Promise<void> {
  return watchUntil(
    watched,
    run,
    emptyProjection,
    within(caller, maxMs),
    (item) => item.kind === "progress" || !quiet.has(item.event.type),
  );
}

function within(caller: AbortSignal, maxMs: number | undefined): AbortSignal {
  return maxMs === undefined ? caller : AbortSignal.any([caller, AbortSignal.timeout(maxMs)]);
}

/** What it has seen of the run is in the cache afterwards, for those who read it then. */
async function watchUntil(
  { engine, projections }: Watched,
  run: RunRecord,
  from: TaskProjection,
  signal: AbortSignal,
  isEnough: (item: FollowItem) => boolean,
): Promise<void> {
  let projection = from;
  for await (const page of engine.follow(run.id, { after: projection.seq, signal }).pages()) {
    let isOver = false;
    for (const item of page) {
      if (item.kind === "event") projection = applyEvent(projection, item);
      isOver ||= (projection.seq >= run.lastEvent && isSettled(projection)) || isEnough(item);
    }
    projections.keep(run.id, projection);
    if (isOver) return;
  }
}

/**
 * Cancels a run and waits at most ten seconds for its end; harmless if it is already canceled.
 * Rejects with `run_ended` if it ended in another state.
 */
export async function cancelRun(
  { engine }: Pick<Watched, "engine">,
  run: RunRecord,
  caller: AbortSignal,
): Promise<void> {
  await engine.cancel(run.id);
  const signal = AbortSignal.any([caller, AbortSignal.timeout(stopMs)]);
  for await (const item of engine.follow(run.id, { after: run.lastEvent, signal }))
    if (item.kind === "event" && item.event.type === "run-ended") return;
}
