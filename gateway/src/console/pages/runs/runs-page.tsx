import type { RunView } from "manyhands/internal/runs/run-view";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { runPath } from "../../api/catalog.ts";
import { post } from "../../api/client.ts";
import { useTitle } from "../../attention/tab.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { hasEnded } from "../../parts/icons/glyph.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { useKeys } from "../../parts/keys.ts";
import { complain, toast } from "../../parts/toast.tsx";
import { address, place, setQuery } from "../../state/router.ts";
import { countText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { exportRun } from "../run/dialogs/act-on-runs.ts";
import { DeleteRuns } from "../run/dialogs/delete-runs.tsx";
import { clearFilters, FilterBar, filtersKey } from "./filter-bar.tsx";
import { type ListStore, openListStore } from "./list-store.ts";
import { RunRow } from "./run-row.tsx";
import { countedAtMost, filtersOf, type ListedRun } from "./runs-query.ts";
import { ViewLinks } from "./view-links.tsx";

/** Milliseconds of quiet after which a search begins. */
const typingMs = 250;

/** Every run of the caller: found, narrowed, opened, repeated, kept and deleted. */
export function RunsPage() {
  const key = filtersKey();
  const filters = filtersOf(place.value.query);
  const store = useMemo(() => openListStore(filters), [key]);
  useEffect(() => () => store.close(), [store]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const find = filters.q?.split(/\s+/).filter((word) => word !== "") ?? [];
  const choose = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const runs = store.runs.value;
  // A run that the list no longer shows is not acted upon.
  const selected = (runs ?? []).filter(({ id }) => chosen.has(id));
  const fresh = store.fresh.value.length;
  const text = words();
  useTitle(text.runs);
  return (
    <>
      <ListHead store={store} />
      <ViewLinks filters={filters} />
      <FilterBar filters={filters} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <section class="scroll" aria-label={text.runs} aria-busy={store.busy.value} tabIndex={0}>
        <div class="rr hd" aria-hidden="true">
          <span />
          <span />
          <span>{text.run.head}</span>
          <span>{text.run.headNamed}</span>
          <span>{text.run.cost}</span>
          <span class="r">{text.run.time}</span>
          <span class="r">{text.run.headStarted}</span>
        </div>
        {fresh > 0 && (
          <div class="list-new">
            <Button look="ghost" onClick={() => void store.showNew()}>
              {text.run.newRuns(fresh)}
            </Button>
          </div>
        )}
        <ul>
          {runs?.map((run) => (
            <RunRow key={run.id} run={run} chosen={chosen.has(run.id)} find={find} onChoose={() => choose(run.id)} />
          ))}
        </ul>
        <ListEnd store={store} filtered={key.trim() !== ""} />
      </section>
      {selected.length > 0 && (
        <ChosenBar runs={selected} onDone={() => setChosen(new Set())} onDeleted={(ids) => store.removed(ids)} />
      )}
    </>
  );
}

function ListHead({ store }: { store: ListStore }) {
  const text = words();
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const asked = place.value.query.get("q") ?? "";
  const typed = useRef(asked);
  const total = store.total.value;
  useKeys({ "/": () => field.current?.focus() });
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    // A view, or clearing the filters, has set another search than the one that was typed.
    if (field.current === null || asked === typed.current) return;
    clearTimeout(timer.current);
    typed.current = asked;
    field.current.value = asked;
  }, [asked]);
  return (
    <header class="head">
      <h1>{text.runs}</h1>
      {total !== undefined && (
        <span class="t3 num">
          {total >= countedAtMost ? text.run.countMore(countText(total)) : text.run.countOf(countText(total))}
        </span>
      )}
      <span class="grow" />
      <label class="field">
        <Icon name="search" />
        <input
          ref={field}
          type="search"
          aria-label={text.run.searchRuns}
          placeholder={text.run.searchRuns}
          maxLength={200}
          defaultValue={asked}
          onInput={({ currentTarget: { value } }) => {
            clearTimeout(timer.current);
            timer.current = setTimeout(() => {
              typed.current = value.trim();
              setQuery({ q: typed.current || undefined });
            }, typingMs);
          }}
        />
      </label>
      <a class="btn primary only-d" href={address([])}>
        <Icon name="plus" small />
        {text.newTask}
      </a>
    </header>
  );
}

function ListEnd({ store, filtered }: { store: ListStore; filtered: boolean }) {
  const text = words();
  const runs = store.runs.value;
  if (runs === undefined || (store.busy.value && runs.length === 0))
    return (
      <p class="list-end t3" role="status">
        {text.run.looking}
      </p>
    );
  const more = store.cursor.value !== undefined;
  const button = more && (
    <Button disabled={store.busy.value} onClick={() => void store.more()}>
      {runs.length === 0 ? text.run.lookFurther : text.run.older}
    </Button>
  );
  if (runs.length > 0) return <div class="list-end">{button}</div>;
  if (!filtered) return <Empty title={text.run.noRuns} />;
  return (
    <Empty
      title={text.run.noMatch}
      action={
        <div class="row list-acts">
          {button}
          <Button onClick={clearFilters}>{text.run.clearAll}</Button>
        </div>
      }
    >
      {more && text.run.noMatchMore}
    </Empty>
  );
}

function ChosenBar({
  runs,
  onDone,
  onDeleted,
}: {
  readonly runs: readonly ListedRun[];
  readonly onDone: () => void;
  readonly onDeleted: (ids: ReadonlySet<string>) => void;
}) {
  const text = words();
  const [deleting, setDeleting] = useState(false);
  const each = async (act: (run: ListedRun) => Promise<unknown>, done?: string) => {
    try {
      for (const run of runs) await act(run);
      if (done !== undefined) toast(done);
      onDone();
    } catch (error) {
      complain(error);
    }
  };
  const ended = runs.filter(({ status }) => hasEnded(status));
  return (
    <div class="act" role="toolbar" aria-label={text.run.selected(runs.length)}>
      <span class="strong num">{text.run.selected(runs.length)}</span>
      <Button
        look="ghost"
        icon="again"
        onClick={() => void each(({ id }) => post<RunView>(`${runPath(id)}/rerun`, {}), text.run.rerunDone)}
      >
        {text.run.rerun}
      </Button>
      {runs.length === 2 && (
        <a class="btn ghost" href={address(["compare"], { a: runs.at(-1)?.id, b: runs[0]?.id })}>
          <Icon name="compare" small />
          {text.find.compareSelected}
        </a>
      )}
      <Button look="ghost" icon="download" onClick={() => void each(({ id }) => exportRun(id))}>
        {text.run.exportOne}
      </Button>
      <Button look="fail" icon="trash" disabled={ended.length === 0} onClick={() => setDeleting(true)}>
        {text.run.remove}
      </Button>
      <IconButton icon="close" label={text.run.clearSelection} onClick={onDone} />
      {deleting && (
        <DeleteRuns
          runs={ended}
          onClose={() => setDeleting(false)}
          onDeleted={() => {
            onDeleted(new Set(ended.map(({ id }) => id)));
            toast(text.run.removed(ended.length));
            onDone();
          }}
        />
      )}
    </div>
  );
}
