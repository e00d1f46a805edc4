import type { StreamResponse } from "@a2a-js/sdk";
import type { FollowItem, RunRecord } from "../../core/runs/engine.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "../../runs/projection.ts";
import { eventUpdate, progressUpdate } from "../stream-update.ts";
import { isTerminal, taskState } from "../task-state.ts";
import { isShownAsData, taskView } from "../task-view.ts";
import { growingAnswer } from "./growing-answer.ts";
import type { TaskDeps } from "./task-access.ts";

/** From where a reader watches a task, how much it sees and when it is done. */
export type WatchOptions = {
  /** Aborted when the reader disconnects. */
  readonly signal: AbortSignal;
  /**
   * The last event the reader has. The task is then shown as of that event, and the rest follows.
   */
  readonly after?: number | undefined;
  readonly historyLength?: number | undefined;
  /**
   * Whether to include events and progress themselves, for readers that activated the extension.
   */
  readonly journal: boolean;
  /** Whether questions are also in the form of the HITL extension. */
  readonly hitl: boolean;
  /** `turn` also ends when the task waits for input; `task` only when it ends. */
  readonly until: "turn" | "task";
};

/**
 * The task, then every event after it, once and in order, in batches of what is there at once. It
 * only reads the journal: any number of readers may watch, at any speed, without disturbing the
 * run.
 */
export async function* watchTask(
  deps: TaskDeps,
  run: RunRecord,
  options: WatchOptions,
): AsyncGenerator<readonly StreamResponse[], void, undefined> {
  const { engine, projections, publicUrl } = deps;
  const { signal, hitl, historyLength } = options;
  const resumed = options.after !== undefined && options.after < run.lastEvent;
  const after = resumed ? (options.after ?? 0) : run.lastEvent;
  const left = new AbortController();
  const shown = (options.after ?? 0) === 0;
  const following = { after, shown, signal: AbortSignal.any([signal, left.signal]) };
  const pages = engine.follow(run.id, following).pages()[Symbol.asyncIterator]();
  // Follows from now on, however long it takes to read the task and to send it: progress is kept
  // until the next event only.
  const begun = pages.next();
  begun.catch(() => undefined);
  try {
    // Before its first event it was as it was accepted.
    const then = () => (after > 0 ? projections.upTo(run.id, after) : { ...emptyProjection, at: run.createdAt });
    const projection = resumed ? await then() : await projections.current(run);
    const record = resumed ? undefined : run;
    const task = taskView(run, projection, publicUrl, { historyLength, artifacts: true, hitl }, record);
    yield [{ payload: { $case: "task", value: task } }];
    if (!resumed && isOver(projection, options.until)) return;
    const updates = taskUpdates(deps, run, projection, options);
    for (let page = await begun; page.done !== true; page = await pages.next()) {
      const { batch, isOver } = updates(page.value);
      if (batch.length > 0) yield batch;
      if (isOver) return;
    }
  } finally {
    left.abort();
    void pages.return?.();
  }
}

/**
 * Makes updates of items, page by page, up to the one with which the task is over for the reader.
 */
function taskUpdates({ publicUrl, draft }: TaskDeps, run: RunRecord, from: TaskProjection, options: WatchOptions) {
  const { journal, hitl, until } = options;
  const isText = !journal && !isShownAsData(run);
  const answer = growingAnswer(run, draft);
  let projection = from;
  return (page: readonly FollowItem[]): { readonly batch: readonly StreamResponse[]; readonly isOver: boolean } => {
    const batch: StreamResponse[] = [];
    for (const item of page) {
      if (item.kind === "progress") {
        if (journal) batch.push(progressUpdate(run, projection, item.event));
        else if (isText) batch.push(...answer.grow(item.event));
        continue;
      }
      projection = applyEvent(projection, item);
      if (isText) for (const update of answer.settle(item)) batch.push(update);
      batch.push(eventUpdate(run, projection, item, publicUrl, { journal, hitl }));
      if (isOver(projection, until)) return { batch, isOver: true };
    }
    return { batch, isOver: false };
  };
}

function isOver(projection: TaskProjection, until: WatchOptions["until"]): boolean {
  if (isTerminal(taskState(projection))) return true;
  // A task that waits for authorization continues by itself once authorized, so its stream stays
  // open (A2A 1.0 section 7.6.1).
  return until === "turn" && projection.question !== undefined && projection.question !== "authorization";
}
