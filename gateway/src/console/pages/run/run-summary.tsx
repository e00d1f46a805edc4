import { textOf } from "manyhands/internal/core/message";
import { useMemo } from "preact/hooks";
import { isEvent } from "../../api/events.ts";
import { Banner } from "../../parts/banner.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { isFlow } from "../../state/names.ts";
import { clockText, countText, moneyText, safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { Facts } from "./facts.tsx";
import { useFullEvent } from "./full-event.ts";
import { InspectorTop } from "./inspector-top.tsx";
import { changedFiles } from "./model/changed-files.ts";
import { asksOthers, failureOf, type RunItem, waitingFor } from "./model/items.ts";
import { callsOf } from "./model/rows.ts";
import { ErrorBlock } from "./render/error-block.tsx";
import type { RunPageStore } from "./run-store.ts";
import { select } from "./selection.ts";
import { tookText } from "./took-text.ts";

/** A run of the tree: its task, how it ended, what it used, its answer. */
export function RunSummary({ item, store }: { item: RunItem; store: RunPageStore }) {
  void store.version.value;
  const text = words();
  const first = useFullEvent(item.events.find(({ event }) => isEvent(event, "message-received")));
  const said = useAnswer(item);
  const failure = failureOf(item);
  const waits = waitingFor(item);
  const begun = item.events[0] === undefined ? "" : clockText(item.events[0].at);
  const flow = isFlow(item.name, asksOthers(item));
  return (
    <>
      <InspectorTop
        store={store}
        event={item.events[0]}
        title={item.title === "" ? item.name : item.title}
        icon={flow ? "flow" : "agent"}
        note={[item.name, begun, tookText(item, store)].filter((one) => one !== "").join(" · ")}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <section class="scroll insp-body" tabIndex={0} aria-label={text.run.summary}>
        {failure !== undefined && <ErrorBlock text={failure} whole={text.run.inFull} />}
        {waits !== undefined && <Banner tone="wait">{safeText(waits)}</Banner>}
        {item.elsewhere && item.events.length === 0 && <p class="t2">{text.run.noneOfIt}</p>}
        <Figures key={item.replies.length} item={item} />
        <Changed item={item} store={store} />
        {said !== "" && said.trim() !== failure?.trim() && (
          <>
            <h3>{text.run.answer}</h3>
            <Markdown text={said} />
          </>
        )}
        {first && (
          <>
            <h3>{text.run.task}</h3>
            <p class="task-text" dir="auto">
              {safeText(textOfEvent(first.event))}
            </p>
          </>
        )}
      </section>
    </>
  );
}

/** What a run answered, as far as it is there. */
export function useAnswer({ events }: RunItem): string {
  const answered = events.findLast(
    ({ event }) => isEvent(event, "artifact-added") && ["answer", "partial-answer"].includes(event.name),
  );
  const answer = useFullEvent(answered);
  return answer === undefined ? "" : textOfEvent(answer.event);
}

/** The files it changed; each opens the call that changed it last. */
function Changed({ item, store }: { item: RunItem; store: RunPageStore }) {
  void store.version.value;
  const { length } = store.tree.events;
  // All calls are read for it: of a long run not with every event.
  const files = useMemo(() => [...changedFiles(item)], [length < 500 ? length : Math.floor(length / 100), item.ended]);
  if (files.length === 0) return null;
  return (
    <section class="changed-files">
      <h3>{words().find.changedFiles}</h3>
      <ul>
        {files.map(([path, call]) => (
          <li key={path}>
            <button type="button" class="link row" onClick={() => select(store.tree, call)}>
              <Icon name="pen" small />
              <span class="mono cut">{safeText(path)}</span>
              {call.runId !== item.runId && (
                <span class="t3 small">{safeText(store.tree.runs.get(call.runId)?.name ?? "")}</span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What the run itself used, without those that it asked: the whole is above the tree. */
function Figures({ item }: { item: RunItem }) {
  const text = words().run;
  const { used, replies } = item;
  if (replies.length === 0 && used.tokens === 0) return null;
  const calls = item.children.flatMap((child) => (child.kind === "run" ? [] : callsOf(child))).length;
  const rows = [
    ...(calls === 0 ? [] : [[text.calls, countText(calls)]]),
    [text.read, text.readTokens(countText(used.input), countText(used.cached))],
    [text.wrote, text.wroteTokens(countText(used.tokens - used.input))],
    [text.cost, used.unpriced && used.usd === 0 ? text.unpriced : moneyText(used.usd)],
  ];
  const title = asksOthers(item) ? text.ownModelCalls(replies.length) : text.modelCalls(replies.length);
  return <Facts title={title} rows={rows} />;
}

function textOfEvent(event: object): string {
  return "parts" in event && Array.isArray(event.parts) ? textOf(event.parts) : "";
}
