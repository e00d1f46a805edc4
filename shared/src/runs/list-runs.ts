import type { Engine, ListFilter, RunRecord, StoredEvent } from "../core/engine.ts";
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
    const found = new Map<string, StoredEvent>();
    const fits = async (run: RunRecord) => {
      if (!(await hasStatus(run))) return false;
      if (!(await isOfAgent(deps, run, agent)) || !(await costs(deps, run, minUsd))) return false;
      const event = words.length === 0 ? undefined : await engine.search(run.id, words);
      if (event !== undefined) found.set(run.id, event);
      return words.length === 0 || event !== undefined;
    };
    const said = words.length === 0 ? narrowed : { ...narrowed, words };
    return { ...(await pageWhere(engine, said, { fits, deadline: performance.now() + lookingMs })), found };
  }
  if (!statuses?.some((status) => underWay.has(status))) return engine.list(narrowed);
  const page = await pageWhere(engine, narrowed, { fits: hasStatus });
  return { ...page, total: await countWhere(engine, narrowed, hasStatus) };
}

/** The statuses of records among which those with these statuses are. */
function storedStatuses(statuses: readonly RunView["status"][]): RunRecord["status"][] {
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

type Looking = { readonly fits: (run: RunRecord) => Promise<boolean>; readonly deadline?: number };

/**
 * A page of the runs that satisfy a condition on their events; one that is cut short at the
 * deadline goes on where it stopped.
 */
async function pageWhere(
  engine: Pick<Engine, "list">,
  filter: ListFilter,
  { fits, deadline = Number.POSITIVE_INFINITY }: Looking,
): Promise<RunPage> {
  const runs: RunRecord[] = [];
  let cursor = filter.cursor;
  do {
    // Reads only as many as are missing, so that the page ends at its last run.
    const limit = Math.min(filter.limit - runs.length, readAtOnce);
    const page = await engine.list({ ...filter, countAtMost: 0, limit, ...(cursor && { cursor }) });
    for (const run of page.runs) {
      if (await fits(run)) runs.push(run);
      // Reading runs keeps this thread busy; others are served between two of them.
      await new Promise((resolve) => setImmediate(resolve));
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined && runs.length < filter.limit && performance.now() < deadline);
  return { runs, ...(cursor !== undefined && { nextCursor: cursor }) };
}

const countedAtOnce = 200;

/** Reads every run of the filter, so the filter should match few, such as those under way. */
async function countWhere(engine: Pick<Engine, "list">, filter: ListFilter, fits: Looking["fits"]): Promise<number> {
  const { cursor: _, ...all } = filter;
  let total = 0;
  for (let next: string | undefined | null = null; next !== undefined; ) {
    const page: RunPage = await engine.list({
      ...{ ...all, countAtMost: 0, limit: countedAtOnce },
      ...(next !== null && { cursor: next }),
    });
    for (const run of page.runs) if (await fits(run)) total++;
    next = page.nextCursor;
  }
  return total;
}
