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
  const entries = new Map<string, { readonly projection: TaskProjection; readonly ended?: RunRecord | undefined }>();
  const known = (runId: string) => entries.get(runId)?.projection ?? emptyProjection;

  async function upTo(runId: string, seq: number): Promise<TaskProjection> {
    const cached = known(runId);
    let projection = cached.seq <= seq ? cached : emptyProjection;
    if (projection.seq >= seq) return projection;
    for (const stored of await engine.events(runId, projection.seq, seq)) projection = applyEvent(projection, stored);
    return projection;
  }

  function keep(runId: string, projection: TaskProjection, ended?: RunRecord): void {
    if (known(runId).seq > projection.seq) return;
    const cached = entries.get(runId);
    const isSame = cached?.projection === projection;
    entries.delete(runId);
    entries.set(runId, { projection, ended: ended ?? (isSame ? cached.ended : undefined) });
    const oldest = entries.keys().next().value;
    if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
  }

  return {
    upTo,
    known,
    keep,
    ended: (runId) => entries.get(runId)?.ended,
    async current(run) {
      const projection = await upTo(run.id, run.lastEvent);
      keep(run.id, projection);
      return projection;
    },
  };
}
