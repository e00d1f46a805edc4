import { signal } from "@preact/signals";
import { complain } from "../../parts/toast.tsx";
import { lastChange } from "../../state/store.ts";
import { type Filters, type ListedPage, type ListedRun, listRuns } from "./runs-query.ts";

/** Milliseconds between two looks at what is new, at least. */
const looksApartMs = 2_000;
/** Runs that are brought up to date: those of the first page. */
const newestRuns = 50;

/** The list of runs that fit the filters, page after page. */
export type ListStore = ReturnType<typeof openListStore>;

/**
 * Opens the list. Rows keep their places while they are read: what changes is drawn in its row, and
 * runs that are new are only counted until `showNew`.
 */
export function openListStore(filters: Filters) {
  const runs = signal<readonly ListedRun[] | undefined>(undefined);
  const total = signal<number | undefined>(undefined);
  const cursor = signal<string | undefined>(undefined);
  const fresh = signal<readonly ListedRun[]>([]);
  const busy = signal(false);
  const gone = new AbortController();
  const opened = Date.now();
  const page = (at: string | undefined) => listRuns(filters, opened, { cursor: at, signal: gone.signal });
  const reads = filters.q !== undefined || filters.agent !== undefined || filters.minUsd !== undefined;
  const load = async (more: boolean) => {
    if (busy.value) return;
    busy.value = true;
    try {
      const found = await page(more ? cursor.value : undefined);
      runs.value = more ? withoutRepeats([...(runs.value ?? []), ...found.runs]) : found.runs;
      cursor.value = found.nextCursor;
      if (found.total !== undefined) total.value = found.total;
      if (!more) fresh.value = [];
    } catch (error) {
      if (!gone.signal.aborted) complain(error);
      runs.value ??= [];
    }
    busy.value = false;
  };
  const look = async () => {
    // A search reads the runs themselves: it is done again when the person asks.
    if (busy.value || runs.value === undefined || reads) return;
    const found = await listRuns(filters, opened, { signal: gone.signal, limit: newestRuns }).catch(() => undefined);
    if (found !== undefined) merge(found);
  };
  const merge = (found: ListedPage) => {
    const listed = runs.value ?? [];
    const known = new Set(listed.map(({ id }) => id));
    const now = new Map(found.runs.map((run) => [run.id, run]));
    const next = listed.map((run) => {
      const changed = now.get(run.id);
      return changed === undefined || changed.lastEvent === run.lastEvent ? run : changed;
    });
    if (next.some((run, at) => run !== listed[at])) runs.value = next;
    const unknown = found.runs.filter(({ id }) => !known.has(id));
    // Those below the page that is shown are not new, they are older.
    const oldest = listed.at(-1)?.updatedAt ?? "";
    const added = unknown.filter(({ updatedAt }) => updatedAt > oldest);
    if (added.length !== fresh.value.length) fresh.value = added;
    if (found.total !== undefined) total.value = found.total;
  };
  const looking = lookingWhenChanged(look);
  void load(false);
  return {
    ...{ runs, total, cursor, fresh, busy },
    more: () => load(true),
    showNew: () => load(false),
    removed(ids: ReadonlySet<string>): void {
      runs.value = runs.value?.filter(({ id }) => !ids.has(id));
    },
    close(): void {
      gone.abort();
      looking.stop();
    },
  };
}

/** Looks soon after runs have changed, and when the page is shown again after that. */
function lookingWhenChanged(look: () => Promise<void>): { stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let looked = Number.NEGATIVE_INFINITY;
  let missed = false;
  const soon = () => {
    if (document.hidden) missed = true;
    else
      timer ??= setTimeout(
        () => {
          timer = undefined;
          missed = document.hidden;
          if (missed) return;
          looked = performance.now();
          void look();
        },
        Math.max(0, looked + looksApartMs - performance.now()),
      );
  };
  const shown = () => {
    if (document.hidden || !missed) return;
    missed = false;
    soon();
  };
  const before = lastChange.peek();
  const unsubscribe = lastChange.subscribe((change) => {
    if (change !== before && (change.all || change.more || change.runs.length > 0)) soon();
  });
  document.addEventListener("visibilitychange", shown);
  return {
    stop() {
      clearTimeout(timer);
      unsubscribe();
      document.removeEventListener("visibilitychange", shown);
    },
  };
}

/** A run that changed between two pages comes twice: its first place counts. */
function withoutRepeats(runs: readonly ListedRun[]): readonly ListedRun[] {
  const seen = new Set<string>();
  return runs.filter(({ id }) => seen.size < seen.add(id).size);
}
