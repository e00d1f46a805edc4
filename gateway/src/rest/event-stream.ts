import { sentEvent } from "manyhands/internal/core/events/read-event";
import type { Engine, FollowItem, RunRecord } from "manyhands/internal/core/runs/engine";
import { type SseFrame, sseAnswer } from "manyhands/internal/http/sse";

/** How a run's events are streamed. */
export type EventStreamOptions = {
  /** The newest event the reader has; 0 for none. */
  readonly after: number;
  readonly heartbeatMs: number;
  /** Aborted when the reader disconnects. */
  readonly signal: AbortSignal;
};

/**
 * A run's events as server-sent events. Each event has its number as `id`, so that `Last-Event-ID`
 * returns exactly the rest; live progress has none. A comment begins it if nothing happens at
 * first. Ends after the run's last event.
 */
export function eventStream(engine: Engine, run: RunRecord, options: EventStreamOptions): Promise<Response> {
  return sseAnswer(options.signal, options.heartbeatMs, (signal) => frames(engine, run, options.after, signal));
}

async function* frames(
  engine: Engine,
  run: RunRecord,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly SseFrame[], void, undefined> {
  for await (const page of engine.follow(run.id, { after, signal }).pages()) yield page.map(frameOf);
}

function frameOf(item: FollowItem): SseFrame {
  if (item.kind === "progress") return { data: { progress: item.event } };
  const { seq, at, event } = item;
  return { id: seq, data: { seq, at: new Date(at).toISOString(), event: sentEvent(event) } };
}

/**
 * The event to continue after: from the header a browser sends, or from `after` in the URL, or 0.
 */
export function placeOf(header: string | undefined, query: string | undefined): number {
  return Number(header ?? query ?? 0);
}
