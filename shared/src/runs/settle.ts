import { type Engine, type RunRecord, terminalStatuses } from "../core/engine.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "./projection.ts";
import type { ProjectionCache } from "./projection-cache.ts";

/** What watching a run needs. */
export type Watched = { readonly engine: Engine; readonly projections: ProjectionCache };

/**
 * How long a cancelled run may take to stop what it is doing before the caller is told that it is
 * still stopping. Milliseconds.
 */
const stopMs = 10_000;

/**
 * What a run tells that need not be watched as it happens: the rest is work that takes its time.
 */
const quiet: ReadonlySet<string> = new Set(["message-received", "message-heard", "artifact-added"]);

/** Whether a run has ended, is paused, or waits for its caller: what ends a blocking call. */
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
 * Like `untilSettled`, but no longer than until there is something to watch, and at most `waitMs`.
 */
export async function whileQuiet(
  { engine }: Pick<Watched, "engine">,
  run: RunRecord,
  caller: AbortSignal,
  waitMs: number,
): Promise<void> {
  const signal = AbortSignal.any([caller, AbortSignal.timeout(waitMs)]);
  let projection = emptyProjection;
  for await (const item of engine.follow(run.id, { signal })) {
    if (item.kind === "progress") return;
    projection = applyEvent(projection, item);
    if (isSettled(projection) || !quiet.has(item.event.type)) return;
  }
}

/**
 * Cancels a run and waits, at most ten seconds, until it has ended; harmless when it was canceled
 * before. Rejects with `run_ended` when it ended otherwise.
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
