import { textOf } from "manyhands/internal/core/message";
import { useRef } from "preact/hooks";
import { isEvent, isFlowEvent } from "../../../api/events.ts";
import type { TreeEvent } from "../../../api/tree-events.ts";
import { Empty } from "../../../parts/empty.tsx";
import { clockText, safeText, shortLine } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { Inspector } from "../inspector.tsx";
import type { RunPageStore } from "../run-store.ts";
import { selectEvent, selected } from "../selection.ts";
import { useWindow } from "../use-window.ts";

/** Every event of the run and of those it asked for, in the order of their times. */
export function EventsTab({ store }: { store: RunPageStore }) {
  void store.version.value;
  const { tree } = store;
  const list = useRef<HTMLDivElement>(null);
  const events = ordered(tree.events);
  const { from, to, rowHeight } = useWindow(list, events.length);
  const chosen = selected(tree).event;
  return (
    <div class="run">
      <div class="run-left">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
        <section class="scroll wf" ref={list} aria-label={words().run.events} tabIndex={0}>
          {events.length === 0 && <Empty title={words().run.noEvents} />}
          <ol class="rows" style={{ height: `${events.length * rowHeight}px` }}>
            {events.slice(from, to).map((item, index) => (
              <li
                key={`${item.runId}/${item.seq}`}
                style={{ top: `${(from + index) * rowHeight}px` }}
                class="event-row"
              >
                <button
                  type="button"
                  class="file-row"
                  {...(item === chosen && { "aria-current": "true" })}
                  onClick={() => selectEvent(tree, item)}
                >
                  <span class="num t3">{item.seq}</span>
                  <span class="num t3 only-d">{clockText(item.at)}</span>
                  <span class="t2 cut event-run only-d">{safeText(tree.runs.get(item.runId)?.name ?? "")}</span>
                  <span class="mono event-type cut">{safeText(item.event.type)}</span>
                  <span class="t3 small cut">{shortLine(safeText(saidIn(item)), 140)}</span>
                </button>
              </li>
            ))}
          </ol>
        </section>
      </div>
      <Inspector store={store} />
    </div>
  );
}

const held: { of: readonly TreeEvent[]; length: number; sorted: readonly TreeEvent[] } = {
  of: [],
  length: 0,
  sorted: [],
};

/** Sorted once for each number of events: several streams bring them, each in order. */
function ordered(events: readonly TreeEvent[]): readonly TreeEvent[] {
  if (held.of === events && held.length === events.length) return held.sorted;
  const sorted = events.toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  Object.assign(held, { of: events, length: events.length, sorted });
  return sorted;
}

/** What an event says in a line. */
function saidIn({ event }: TreeEvent): string {
  if (isFlowEvent(event)) return event.note;
  const { name, text, question, arguments: given, agent, status, error } = event as Record<string, unknown>;
  const parts = isEvent(event, "message-received") ? textOf(event.parts) : undefined;
  const asked = isEvent(event, "model-replied") ? event.toolCalls.map((call) => call.name) : [];
  const own = text ?? given ?? question ?? parts ?? status;
  const said = [name, agent, own, ...asked, (error as { message?: string } | undefined)?.message];
  return said.filter((one): one is string => typeof one === "string").join(" ");
}
