import { type Engine, type RunRecord, terminalStatuses } from "../core/engine.ts";
import { applyEvent, type TaskProjection } from "./projection.ts";
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

/** Waits until the run has ended, is paused or waits for its caller, or until `signal` aborts. */
export async function untilSettled(
  { engine, projections }: Watched,
  run: RunRecord,
  signal: AbortSignal,
): Promise<void> {
  let projection = await projections.current(run);
  if (isSettled(projection, run)) return;
  for await (const item of engine.follow(run.id, { after: projection.seq, signal })) {
    if (item.kind === "progress") continue;
    projection = applyEvent(projection, item);
    if (isSettled(projection)) return;
  }
}

/**
 * Like `untilSettled`, but returns as soon as there is something to watch, and after `waitMs` at
 * the latest.
 */
export async function whileQuiet(
  { engine }: Pick<Watched, "engine">,
  run: RunRecord,
  caller: AbortSignal,
  waitMs: number,
): Promise<void> {
  const signal = AbortSignal.any([caller, AbortSignal.timeout(waitMs)]);
  for await (const item of engine.follow(run.id, { signal }))
    if (item.kind === "progress" || !quiet.has(item.event.type)) return;
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
