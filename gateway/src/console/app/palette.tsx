import type { RunView } from "manyhands/internal/runs/run-view";
import { useEffect, useRef, useState } from "preact/hooks";
import { getRuns } from "../api/catalog.ts";
import { StateGlyph } from "../parts/icons/glyph.tsx";
import { Icon, type IconName } from "../parts/icons/icon.tsx";
import { titleOf } from "../state/names.ts";
import { address, go } from "../state/router.ts";
import { flows, recent } from "../state/store.ts";
import { toggleTheme } from "../state/theme.ts";
import { words } from "../words/words.ts";

const foundCount = 8;
const pauseMs = 200;

type Entry = {
  readonly key: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly run?: RunView;
  act(): void;
};

/** Finds tasks and does what the console can do, by keys alone. */
export function Palette({ close }: { close: () => void }) {
  const text = words();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(query);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  const runs = found.map(
    (run): Entry => ({ key: run.id, label: titleOf(run, 90), run, act: () => go(address(["c", run.contextId])) }),
  );
  const wanted = query.trim().toLowerCase();
  const acts = commands().filter(({ label }) => label.toLowerCase().includes(wanted));
  const entries = [...runs, ...acts];
  const chosen = Math.min(at, entries.length - 1);
  const choose = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    close();
    entry.act();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((chosen + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === "Enter") choose(entries[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes the dialog; the click is one beside it.
    <dialog
      ref={dialog}
      class="pal"
      aria-label={text.palette}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="q">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label={text.paletteHint}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-autocomplete="list"
          {...(entries[chosen] && { "aria-activedescendant": `palette-${entries[chosen].key}` })}
          placeholder={text.paletteHint}
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <Results entries={entries} chosen={chosen} choose={choose} />
      {entries.length === 0 && <p class="t3 none">{text.noMatch}</p>}
    </dialog>
  );
}

function Results({
  entries,
  chosen,
  choose,
}: {
  readonly entries: readonly Entry[];
  readonly chosen: number;
  readonly choose: (entry: Entry) => void;
}) {
  const text = words();
  return (
    <div id="palette-list" role="listbox" aria-label={text.search} class="results">
      {entries.map((entry, index) => (
        <button
          key={entry.key}
          id={`palette-${entry.key}`}
          type="button"
          role="option"
          tabIndex={-1}
          class="it"
          aria-selected={index === chosen}
          onClick={() => choose(entry)}
        >
          {entry.run === undefined ? (
            <Icon name={entry.icon ?? "right"} />
          ) : (
            <StateGlyph state={entry.run.status} label={false} />
          )}
          <span class="cut">{entry.label}</span>
          {entry.run !== undefined && <span class="end">{text.states[entry.run.status]}</span>}
        </button>
      ))}
    </div>
  );
}

/**
 * The tasks that match, or the newest. Until they have been searched, those shown before whose
 * titles match, so that who types and presses Enter at once opens none that does not.
 */
function useFound(query: string): readonly RunView[] {
  const wanted = query.trim();
  const [found, setFound] = useState<{ readonly of: string; readonly runs: readonly RunView[] }>({ of: "", runs: [] });
  useEffect(() => {
    if (wanted === "") return;
    const left = new AbortController();
    const timer = setTimeout(() => {
      getRuns({ q: wanted, limit: foundCount }, left.signal).then(
        ({ runs }) => setFound({ of: wanted, runs }),
        () => undefined,
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [wanted]);
  const newest = recent.value ?? [];
  if (wanted === "") return newest;
  if (found.of === wanted) return found.runs;
  const before = found.of === "" ? newest : found.runs;
  return before.filter((run) => titleOf(run, 90).toLowerCase().includes(wanted.toLowerCase()));
}

function commands(): Entry[] {
  const text = words();
  const to = (parts: readonly string[], icon: IconName, label: string): Entry => ({
    key: `to-${parts.join("-")}`,
    label,
    icon,
    act: () => go(address(parts)),
  });
  return [
    to([], "plus", text.newTask),
    to(["waiting"], "tray", text.goTo(text.waitingForYou)),
    to(["runs"], "runs", text.goTo(text.runs)),
    to(["agents"], "agent", text.goTo(text.agents)),
    to(["starts"], "clock", text.goTo(text.starts.title)),
    to(["settings", "model"], "settings", text.goTo(text.settings)),
    to(["build"], "flow", text.goTo(text.flows)),
    to(["api"], "api", text.goTo(text.api)),
    ...flows.value.map(
      ({ name, title }): Entry => ({
        key: `flow-${name}`,
        label: `${text.newTask}: ${title}`,
        icon: "flow",
        act: () => go(address([], { flow: name })),
      }),
    ),
    { key: "theme", label: text.switchTheme, icon: "moon", act: toggleTheme },
  ];
}
