import type { RunView } from "manyhands/internal/runs/run-view";
import { get } from "../../api/client.ts";

/** A run of the list; `match` says where it says the words that were searched for. */
export type ListedRun = RunView & {
  readonly match?: { readonly runId: string; readonly seq: number; readonly text: string };
};

/** A page of the list. */
export type ListedPage = {
  readonly runs: readonly ListedRun[];
  readonly total?: number;
  readonly nextCursor?: string;
};

/** The filters that the address holds. */
export const filterNames = ["q", "status", "name", "agent", "minUsd", "days"] as const;

/** What is asked for, by the names in the address. */
export type Filters = Readonly<Partial<Record<(typeof filterNames)[number], string>>>;

/** Runs of a page. */
const pageSize = 50;
/** How far runs are counted: further would take longer the more there are. */
export const countedAtMost = 1_000;
const dayMs = 24 * 3_600_000;

/** The filters in a query of the address. */
export function filtersOf(query: URLSearchParams): Filters {
  return Object.fromEntries(filterNames.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));
}

/** A page of the runs that fit. `now` is what `days` counts back from. */
export function listRuns(
  { days, ...filters }: Filters,
  now: number,
  { cursor, signal, limit = pageSize }: { cursor?: string | undefined; signal?: AbortSignal; limit?: number } = {},
): Promise<ListedPage> {
  const search = new URLSearchParams({ ...filters, limit: String(limit), count: String(countedAtMost) });
  const back = Number(days);
  if (back > 0) search.set("since", new Date(now - back * dayMs).toISOString());
  if (cursor !== undefined) search.set("cursor", cursor);
  return get<ListedPage>(`/runs?${search}`, signal);
}
