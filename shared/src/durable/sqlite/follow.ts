import { type FollowItem, terminalStatuses } from "../../core/engine.ts";
import { AppError } from "../../core/errors.ts";
import type { Live } from "./live.ts";
import type { Watch } from "./watch.ts";
import type { Writer } from "./writer.ts";

/**
 * Events read at once. Few, because a stalled follower keeps its page, which adds up with large
 * events and many readers.
 */
const pageSize = 32;

/**
 * The generator behind Engine.follow: reads the log page by page and waits for news between pages.
 */
export async function* follow(
  deps: { readonly writer: Writer; readonly live: Live; readonly watch: Watch },
  runId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<FollowItem, void> {
  const follower = deps.live.follow(runId);
  const stopWatching = deps.watch.need();
  try {
    for (let last = after; !signal.aborted; ) {
      const page = await deps.writer.read(({ runs, events }) => {
        const run = runs.standing(runId);
        if (run === null) throw new AppError("not_found", `There is no run ${runId}.`);
        follower.reached(run.last_event);
        return {
          ended: terminalStatuses.includes(run.status),
          events: run.last_event > last ? events.after(run, last, pageSize) : [],
        };
      });
      for (const stored of page.events) {
        for (const event of follower.takeProgress(stored.seq)) yield { kind: "progress", event };
        yield { kind: "event", ...stored };
        last = stored.seq;
      }
      if (page.events.length === pageSize) continue;
      if (page.ended) return;
      // What belongs behind an event that this page has not comes after that event.
      for (const event of follower.takeProgress(last + 1)) yield { kind: "progress", event };
      if (!(await follower.news(signal))) return;
    }
  } finally {
    stopWatching();
    follower.leave();
  }
}
