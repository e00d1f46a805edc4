import type { Engine, RunRecord } from "../core/engine.ts";
import { applyEvent, emptyFold, type TaskFold } from "./projection.ts";

/** Folds of runs, kept so that reading a task again costs only its newer events. */
export type FoldCache = {
  /** The fold of all events the record counts. */
  current(run: RunRecord): Promise<TaskFold>;
  /** The fold of the events up to `seq`. */
  upTo(runId: string, seq: number): Promise<TaskFold>;
};

/** A cache of at most `capacity` folds; the one not read for longest goes first. */
export function createFoldCache(engine: Pick<Engine, "events">, capacity = 256): FoldCache {
  const folds = new Map<string, TaskFold>();

  async function upTo(runId: string, seq: number): Promise<TaskFold> {
    const cached = folds.get(runId);
    let fold = cached !== undefined && cached.seq <= seq ? cached : emptyFold;
    if (fold.seq >= seq) return fold;
    for (const stored of await engine.events(runId, fold.seq)) {
      if (stored.seq > seq) break;
      fold = applyEvent(fold, stored);
    }
    return fold;
  }

  function keep(runId: string, fold: TaskFold): void {
    const newest = Math.max(fold.seq, folds.get(runId)?.seq ?? 0);
    if (newest > fold.seq) return;
    folds.delete(runId);
    folds.set(runId, fold);
    const oldest = folds.keys().next().value;
    if (folds.size > capacity && oldest !== undefined) folds.delete(oldest);
  }

  return {
    upTo,
    async current(run) {
      const fold = await upTo(run.id, run.lastEvent);
      keep(run.id, fold);
      return fold;
    },
  };
}
