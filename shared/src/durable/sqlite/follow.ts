import { type FollowItem, type Following, terminalStatuses } from "../../core/engine.ts";
import { AppError } from "../../core/errors.ts";
import type { Live } from "../live.ts";
import type { Watch } from "./watch.ts";
import type { Writer } from "./writer.ts";

type FollowDeps = { readonly writer: Writer; readonly live: Live; readonly watch: Watch };

/** Engine.follow: reads the log page by page and waits for news between pages. */
export function follow(deps: FollowDeps, runId: string, after: number, signal: AbortSignal): Following {
  const open = () => pages(deps, runId, after, signal);
  return {
    pages: open,
    async *[Symbol.asyncIterator]() {
      for await (const page of open()) for (const item of page) yield item;
    },
  };
}

async function* pages(
  deps: FollowDeps,
  runId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly FollowItem[], void> {
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
          end: run.last_event,
          events: run.last_event > last ? events.page(run, last) : [],
        };
      });
      const items: FollowItem[] = [];
      for (const { seq, at, event } of page.events) {
        for (const item of follower.takeProgress(seq)) items.push(item);
        items.push({ kind: "event", runId, seq, at, event });
        last = seq;
      }
      const isLast = last >= page.end;
      // What belongs behind an event that this page has not comes after that event.
      if (isLast && !page.ended) items.push(...follower.takeProgress(last + 1));
      if (items.length > 0) yield items;
      if (!isLast) continue;
      if (page.ended || !(await follower.news(signal))) return;
    }
  } finally {
    stopWatching();
    follower.leave();
  }
}
