import type { Engine, ListFilter, RunRecord, StoredEvent } from "../core/runs/engine.ts";
import { cursorAfter } from "../core/runs/list-cursor.ts";
import { projectedUsage } from "./projection.ts";
import type { ProjectionCache } from "./projection-cache.ts";
import { type RunView, statusOf } from "./run-view.ts";
import { kindsOf, type Runnable, type Runnables } from "./runnable.ts";

/**
 * Which runs to list: those of one runnable, with one status as callers see it, in one
 * conversation. `words`, `agent` and `minUsd` hold for a run with all that it asked for: it says
 * all these words somewhere, this agent worked on it, it cost this much.
 */
export type RunFilter = Pick<ListFilter, "contextId" | "limit" | "cursor" | "updatedSince" | "countAtMost"> & {
  readonly of?: Runnable;
  readonly statuses?: readonly RunView["status"][];
  readonly words?: readonly string[];
  readonly agent?: string;
  readonly minUsd?: number;
};

/**
 * A page of runs. With `words`, `agent` or `minUsd` the runs themselves are read, for a bounded
 * time per page: a page may then have fewer runs than it has room for, or none, and the next one
 * looks further; there is no `total`, and `found` has, by run, the event that says the words.
 */
export type RunPage = {
  readonly runs: readonly RunRecord[];
  readonly total?: number;
  readonly nextCursor?: string;
  readonly found?: ReadonlyMap<string, StoredEvent>;
};

/** What listing needs. */
type ListDeps = {
  readonly engine: Engine;
  readonly projections: ProjectionCache;
  readonly runnables: Runnables;
};

/** Milliseconds for which a page that reads runs looks for more. */
const lookingMs = 1_000;

/** Runs read before the time is looked at. */
const readAtOnce = 50;

/** Runs searched together, once those at first did not fill a page. */
const searchedAtOnce = 150;

/**
 * How many runs are searched before the index is asked which ones say the words: for a common word
 * it would name thousands, and by then a page is full.
 */
const searchedUnasked = 200;

/** Statuses that only a run's journal distinguishes, not its record. */
const underWay: ReadonlySet<RunView["status"]> = new Set(["running", "waiting", "input-required", "auth-required"]);

/** The runs of a principal, newest change first, without those that another run asked for. */
export async function listRuns(deps: ListDeps, filter: RunFilter, principal: string): Promise<RunPage> {
  const { engine, projections, runnables } = deps;
  const { of, statuses, words = [], agent, minUsd, ...rest } = filter;
  // The store also holds runs that are not a runnable's: push deliveries and cancellations.
  const kinds = of === undefined ? runnables.all().flatMap(kindsOf) : kindsOf(of);
  const all = { ...rest, kinds, principal, asked: false } as const;
  const narrowed = statuses === undefined ? all : { ...all, statuses: storedStatuses(statuses) };
  const hasStatus = async (run: RunRecord) =>
    statuses === undefined ||
    (underWay.has(run.status)
      ? statuses.includes(statusOf(run, await projections.current(run)))
      : statuses.includes(run.status));
  if (words.length > 0 || agent !== undefined || minUsd !== undefined) {
    const fits = async (run: RunRecord) =>
      (await hasStatus(run)) && (await isOfAgent(deps, run, agent)) && (await costs(deps, run, minUsd));
    return pageWhere(engine, narrowed, { words, fits, deadline: performance.now() + lookingMs });
  }
  if (!statuses?.some((status) => underWay.has(status))) return engine.list(narrowed);
  const { found: _, ...page } = await pageWhere(engine, narrowed, { fits: hasStatus });
  return { ...page, total: await countWhere(engine, narrowed, hasStatus) };
}

/** The statuses of records among which those with these statuses are. */
export function storedStatuses(statuses: readonly RunView["status"][]): RunRecord["status"][] {
  const some = statuses.flatMap((status) =>
    underWay.has(status) ? (["running", "waiting"] as const) : [status as RunRecord["status"]],
  );
  return [...new Set(some)];
}

async function isOfAgent({ projections, runnables }: ListDeps, run: RunRecord, agent: string | undefined) {
  if (agent === undefined || runnables.ofKind(run.kind)?.name === agent) return true;
  return (await projections.current(run)).agents.includes(agent);
}

async function costs({ projections }: ListDeps, run: RunRecord, minUsd: number | undefined) {
  return minUsd === undefined || projectedUsage(await projections.current(run)).usd >= minUsd;
}

type Looking = {
  readonly words?: readonly string[];
  readonly fits: (run: RunRecord) => Promise<boolean>;
  readonly deadline?: number;
};

/**
 * A page of the runs that say the words and satisfy a condition on their events; one that is cut
 * short at the deadline goes on where it stopped.
 */
async function pageWhere(
  engine: Pick<Engine, "list" | "search">,
  filter: ListFilter,
  { words = [], fits, deadline = Number.POSITIVE_INFINITY }: Looking,
): Promise<RunPage> {
  const runs: RunRecord[] = [];
  const found = new Map<string, StoredEvent>();
  let cursor = filter.cursor;
  for (let read = 0; ; ) {
    const page = await engine.list({
      ...filter,
      ...part(filter.limit - runs.length, words, read),
      ...(cursor && { cursor }),
    });
    const ids = page.runs.map(({ id }) => id);
    const said = words.length === 0 ? undefined : await engine.search(ids, words);
    read += ids.length;
    cursor = page.nextCursor;
    for (const run of page.runs) {
      const event = said?.get(run.id);
      if ((said === undefined || event !== undefined) && (await fits(run))) runs.push(run);
      if (event !== undefined) found.set(run.id, event);
      if (runs.length === filter.limit) {
        if (run.id !== ids.at(-1)) cursor = cursorAfter(run);
        break;
      }
      // Reading runs keeps this thread busy; others are served between two of them.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (cursor === undefined || runs.length === filter.limit || performance.now() > deadline)
      return { runs, found, ...(cursor !== undefined && { nextCursor: cursor }) };
  }
}

/** The runs to read next, when so many are missing and so many were read. */
function part(
  missing: number,
  words: readonly string[],
  read: number,
): Pick<ListFilter, "limit" | "countAtMost" | "words"> {
  if (words.length === 0) return { countAtMost: 0, limit: Math.min(missing, readAtOnce) };
  return {
    countAtMost: 0,
    limit: read === 0 ? readAtOnce : searchedAtOnce,
    ...(read >= searchedUnasked && { words }),
  };
}

const countedAtOnce = 200;

/** Reads every run of the filter, so the filter should match few, such as those under way. */
async function countWhere(engine: Pick<Engine, "list">, filter: ListFilter, fits: Looking["fits"]): Promise<number> {
  const { cursor: _, ...all } = filter;
  let total = 0;
  for (let next: string | undefined | null = null; next !== undefined; ) {
    const page: RunPage = await engine.list({
      ...all,
      countAtMost: 0,
      limit: countedAtOnce,
      ...(next !== null && { cursor: next }),
    });
    for (const run of page.runs) if (await fits(run)) total++;
    next = page.nextCursor;
  }
  return total;
}
