import type { FollowItem, Following, FollowPlace, StoredEvent } from "../core/runs/engine.ts";
import type { Live } from "./live.ts";

/** A page of a run's log: what follows a place in it. */
export type LogPage = {
  readonly events: readonly StoredEvent[];
  /** The number of the run's last event, on this page or not. */
  readonly end: number;
  readonly hasEnded: boolean;
};

/** How the log of one run is read. */
export type RunLog = {
  /** Begins to hear of news; what it resolves with ends that. */
  open(): Promise<() => void>;
  /**
   * The page after the event numbered `last`; `reached` is told the number of the run's last event
   * as soon as that is known. Rejects with `not_found`.
   */
  read(last: number, reached: (end: number) => void): Promise<LogPage>;
};

/** Engine.follow: reads the log page by page and waits for news between pages. */
export function follow(live: Live, log: RunLog, runId: string, place: FollowPlace): Following {
  const open = () => pages(live, log, runId, place);
  return {
    pages: open,
    async *[Symbol.asyncIterator]() {
      for await (const page of open()) for (const item of page) yield item;
    },
  };
}

/** Engine.changes: waits for news of any run. `open` begins to hear of it, and tells how to end. */
export async function* changes(live: Live, open: RunLog["open"], signal: AbortSignal): AsyncGenerator<void> {
  const follower = live.followAll();
  let close: (() => void) | undefined;
  try {
    close = await open();
    while (await follower.news(signal)) yield;
  } finally {
    close?.();
    follower.leave();
  }
}

async function* pages(
  live: Live,
  log: RunLog,
  runId: string,
  { after = 0, shown = after === 0, signal }: FollowPlace,
): AsyncGenerator<readonly FollowItem[], void> {
  const follower = live.follow(runId, shown ? after : undefined);
  let close: (() => void) | undefined;
  try {
    close = await log.open();
    for (let last = after; !signal.aborted; ) {
      const page = await log.read(last, (end) => follower.reached(end));
      const items: FollowItem[] = [];
      for (const { seq, at, event } of page.events) {
        for (const item of follower.takeProgress(seq)) items.push(item);
        items.push({ kind: "event", runId, seq, at, event });
        last = seq;
      }
      const isLast = last >= page.end;
      // What belongs behind an event that this page has not comes after that event.
      if (isLast && !page.hasEnded) items.push(...follower.takeProgress(last + 1));
      if (items.length > 0) yield items;
      if (!isLast) continue;
      if (page.hasEnded || !(await follower.news(signal))) return;
    }
  } catch (error) {
    // A closing engine ends its followers, whatever they are reading.
    if (!follower.hasEnded) throw error;
  } finally {
    close?.();
    follower.leave();
  }
}
