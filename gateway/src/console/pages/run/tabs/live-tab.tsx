import type { StoredFile } from "manyhands/internal/core/workspace";
import { useRef } from "preact/hooks";
import type { LivePlace } from "../../../api/live.ts";
import { Empty } from "../../../parts/empty.tsx";
import { Icon } from "../../../parts/icons/icon.tsx";
import { clockText, safeText, shortLine } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { LivePage } from "../live/live-page.tsx";
import type { RunItem } from "../model/items.ts";
import { callsOf, hintOf } from "../model/rows.ts";
import { Pictures, picturesIn } from "../render/pictures.tsx";
import { Terminal } from "../render/terminal.tsx";
import type { RunPageStore } from "../run-store.ts";
import { select } from "../selection.ts";
import { toolIcon } from "../tool-icon.ts";

/** Steps listed, the newest last. */
const newest = 12;

/**
 * What is being written and seen right now: each agent's words and output, and its last picture.
 */
export function LiveTab({ store }: { store: RunPageStore }) {
  void store.version.value;
  const text = words().run;
  const { tree, live } = store;
  const speaking = live.of();
  const ended = tree.root.ended !== undefined;
  const shown = useScreens(store);
  const picture = shown.length === 0 ? lastPicture(store) : undefined;
  const calls = callsOf(tree.root)
    .toSorted((one, other) => one.started.at.localeCompare(other.started.at))
    .slice(-newest);
  return (
    <div class="live">
      <section class="stage scroll" aria-label={text.live}>
        {shown.map(({ run, screen }) => (
          <LivePage
            key={`${run.runId} ${screen}`}
            runId={tree.root.runId}
            task={run.runId}
            screen={screen}
            agent={run.name}
          />
        ))}
        {picture && (
          <figure>
            <Pictures files={[picture]} />
            <figcaption class="t3 small">{text.lastPicture}</figcaption>
          </figure>
        )}
        {speaking.map((one) => (
          <div key={`${one.runId} ${one.agent} ${one.type}`}>
            <h2 class="small t3">
              {safeText(one.agent || (tree.runs.get(one.runId)?.name ?? ""))} · {titleOf(one.type)}
            </h2>
            {one.type === "tool-output" ? (
              <Terminal command="" output={one.text} />
            ) : (
              <p class="task-text">{safeText(one.text)}</p>
            )}
          </div>
        ))}
        {speaking.length === 0 && shown.length === 0 && (
          <Empty title={ended ? text.liveOver : text.liveNothing}>{text.liveMore}</Empty>
        )}
      </section>
      <aside class="scroll live-calls">
        <h2 class="small t3">{text.calls}</h2>
        <ol>
          {calls.map((call) => (
            <li key={call.key}>
              <button type="button" class="file-row" onClick={() => select(tree, call)}>
                <Icon name={toolIcon(call.name)} small />
                <span class="cut mono">{safeText(call.name)}</span>
                <span class="t3 small cut">{shortLine(safeText(hintOf(call)), 40)}</span>
                <span class="t3 small end">{clockText(call.started.at)}</span>
              </button>
            </li>
          ))}
        </ol>
      </aside>
    </div>
  );
}

type Shown = { readonly run: RunItem; readonly screen: LivePlace["screen"] };

/** The runs that used a browser or a desktop last, if still at work when this was first drawn. */
function useScreens({ tree }: RunPageStore): readonly Shown[] {
  const seen = useRef(new Map<string, string>());
  const calls = callsOf(tree.root).toSorted((one, other) => one.started.at.localeCompare(other.started.at));
  const uses = {
    browser: (name: string) => name.startsWith("browser_"),
    desktop: (name: string) => name === "computer_use",
  };
  return (["browser", "desktop"] as const).flatMap((screen) => {
    const newest = calls.findLast(({ name }) => uses[screen](name));
    const run = newest && tree.runs.get(newest.runId);
    if (run === undefined) return [];
    if (run.ended === undefined && run.outcome === undefined) seen.current.set(screen, run.runId);
    return seen.current.get(screen) === run.runId ? [{ run, screen }] : [];
  });
}

function titleOf(type: string): string {
  const { answer, reasoning, output, note } = words().run.speakers;
  return { "reasoning-delta": reasoning, "tool-output": output, "notice-given": note }[type] ?? answer;
}

function lastPicture({ tree }: RunPageStore): StoredFile | undefined {
  const pictures = tree.events.findLast(({ event }) => picturesIn(event).length > 0);
  return pictures && picturesIn(pictures.event).at(-1);
}
