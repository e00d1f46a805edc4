import type { Engine, RunRecord } from "../core/runs/engine.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "./projection.ts";

/** Projections of runs, cached so that reading a task again reads only its newer events. */
export type ProjectionCache = {
  /** The projection of all events up to the record's `lastEvent`. */
  current(run: RunRecord): Promise<TaskProjection>;
  /** The projection of the events up to `seq`. */
  upTo(runId: string, seq: number): Promise<TaskProjection>;
  /** What is cached, or the projection of no events. */
  known(runId: string): TaskProjection;
  /**
   * Caches a projection that was made elsewhere, unless a newer one is known; of a run that is over
   * with its record, which never changes.
   */
  keep(runId: string, projection: TaskProjection, ended?: RunRecord): void;
  /** The record of a run that is over, if it was cached. */
  ended(runId: string): RunRecord | undefined;
};

/** A cache of at most `capacity` projections; the least recently read is evicted first. */
export function createProjectionCache(engine: Pick<Engine, "events">, capacity = 256): ProjectionCache {
  const projections = new Map<string, TaskProjection>();
  const records = new WeakMap<TaskProjection, RunRecord>();

  async function upTo(runId: string, seq: number): Promise<TaskProjection> {
    const cached = projections.get(runId);
    let projection = cached !== undefined && cached.seq <= seq ? cached : emptyProjection;
    if (projection.seq >= seq) return projection;
    for (const stored of await engine.events(runId, projection.seq, seq)) projection = applyEvent(projection, stored);
    return projection;
  }

  function keep(runId: string, projection: TaskProjection, ended?: RunRecord): void {
    if (ended !== undefined) records.set(projection, ended);
    const newest = Math.max(projection.seq, projections.get(runId)?.seq ?? 0);
    if (newest > projection.seq) return;
    projections.delete(runId);
    projections.set(runId, projection);
    const oldest = projections.keys().next().value;
    if (projections.size > capacity && oldest !== undefined) projections.delete(oldest);
  }

  return {
    upTo,
    known: (runId) => projections.get(runId) ?? emptyProjection,
    keep,
    ended: (runId) => records.get(projections.get(runId) ?? emptyProjection),
    async current(run) {
      const projection = await upTo(run.id, run.lastEvent);
      keep(run.id, projection);
      return projection;
    },
  };
}
