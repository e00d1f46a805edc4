import type { TreeEvent } from "../../api/tree-events.ts";
import { place, setQuery } from "../../state/router.ts";
import { clockText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { useFullEvent } from "./full-event.ts";
import { InspectorTop } from "./inspector-top.tsx";
import type { CallItem } from "./model/items.ts";
import { argumentsOf } from "./model/rows.ts";
import { ModelCall } from "./model-call.tsx";
import { CallResult } from "./render/call-result.tsx";
import { CodeBlock, prettyJson } from "./render/code-block.tsx";
import type { RunPageStore } from "./run-store.ts";
import { RunSummary } from "./run-summary.tsx";
import { selected } from "./selection.ts";
import { tookText } from "./took-text.ts";
import { toolIcon } from "./tool-icon.ts";

const views = ["result", "arguments", "raw"] as const;
type View = (typeof views)[number];

/** What was done in the selected row: its result, its arguments, its events. */
export function Inspector({ store }: { store: RunPageStore }) {
  void store.version.value;
  const { item, event } = selected(store.tree);
  const open = item !== undefined || event !== undefined;
  return (
    <aside class={open ? "insp open" : "insp"} aria-label={words().run.inspector}>
      {item?.kind === "call" ? (
        <CallInspector key={item.key} call={item} store={store} />
      ) : item?.kind === "run" ? (
        <RunSummary key={item.key} item={item} store={store} />
      ) : event !== undefined ? (
        <EventInspector event={event} store={store} />
      ) : (
        <RunSummary item={store.tree.root} store={store} />
      )}
    </aside>
  );
}

function CallInspector({ call, store }: { call: CallItem; store: RunPageStore }) {
  void store.version.value;
  const text = words().run;
  const started = useFullEvent(call.started);
  const ended = useFullEvent(call.ended);
  const shown: CallItem = { ...call, started: started ?? call.started, ended };
  const asked = place.value.query.get("view");
  const view: View = views.find((one) => one === asked) ?? "result";
  const about = [
    store.tree.runs.get(call.runId)?.name ?? "",
    text.eventNumber(call.started.seq),
    clockText(call.started.at),
    tookText(call, store),
  ];
  return (
    <>
      <InspectorTop
        store={store}
        event={call.started}
        title={call.name}
        mono
        icon={toolIcon(call.name)}
        note={about.join(" · ")}
      />
      <div class="tabs" role="tablist">
        {views.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={one === view}
            onClick={() => setQuery({ view: one === "result" ? undefined : one })}
          >
            {text[one]}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <div class="scroll insp-body" role="tabpanel" tabIndex={0} aria-label={text[view]}>
        {view === "result" && <CallResult call={shown} store={store} />}
        {view === "arguments" && <CodeBlock text={prettyJson(argumentsOf(shown))} />}
        {view === "raw" && <CodeBlock text={rawOf(shown)} />}
        {view === "result" && call.reply && <ModelCall reply={call.reply} />}
      </div>
    </>
  );
}

function rawOf({ started, ended }: CallItem): string {
  return [started, ended].flatMap((one) => (one === undefined ? [] : [JSON.stringify(one, undefined, 2)])).join("\n\n");
}

function EventInspector({ event, store }: { event: TreeEvent; store: RunPageStore }) {
  const full = useFullEvent(event) ?? event;
  const text = words().run;
  const run = store.tree.runs.get(event.runId)?.name ?? "";
  const note = [run, text.eventNumber(event.seq), clockText(event.at)].join(" · ");
  return (
    <>
      <InspectorTop store={store} event={event} title={event.event.type} mono icon="runs" note={note} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <section class="scroll insp-body" tabIndex={0} aria-label={text.raw}>
        {full.event.type === "model-replied" && <ModelCall reply={full} open />}
        <CodeBlock text={JSON.stringify(full, undefined, 2)} />
      </section>
    </>
  );
}
