import { type Engine, type StartRequest, terminalStatuses } from "../../core/engine.ts";
import { AppError } from "../../core/errors.ts";
import { checkQuota } from "../../core/quota.ts";
import type { Live } from "../live.ts";
import { Acceptance, claimOf } from "./claim.ts";
import { endRun } from "./endings.ts";
import type { Moment, RunClock } from "./run-clock.ts";
import { type RunRow, recordOf } from "./tables/runs-table.ts";
import type { Tables } from "./tables/tables.ts";
import type { Seat, Worker } from "./worker.ts";
import type { Writer } from "./writer.ts";

/** What changing runs from outside needs. */
export type IntakeDeps = {
  readonly writer: Writer;
  readonly live: Live;
  readonly worker: Worker;
  readonly clock: RunClock;
};

/**
 * The engine's calls that change runs from outside. Each is one transaction, refused while the
 * storage fails.
 */
export function intake(deps: IntakeDeps): Pick<Engine, "start" | "deliver" | "watch" | "cancel" | "resume"> {
  const { writer, live, worker, clock } = deps;
  /** The dedupe keys of runs that are being accepted. */
  const accepting = new Set<string>();

  return {
    async start(request) {
      const { principal, dedupe } = request;
      const key = dedupe && JSON.stringify([principal, dedupe.key]);
      const isAlone = key !== undefined && !accepting.has(key);
      if (isAlone) accepting.add(key);
      const place = worker.reserve(request.kind);
      try {
        const acceptance = key === undefined || isAlone ? acceptanceOf(writer, request, place) : undefined;
        const { row, created } = await store(deps, request, place, acceptance);
        if (acceptance === undefined && place !== undefined && isClaimed({ row, created }))
          place.begin(claimOf(row, place.owner));
        else if (created && place === undefined) worker.wake();
        return { run: recordOf(row), created };
      } finally {
        if (isAlone) accepting.delete(key);
        place?.leave();
      }
    },
    async deliver(runId, name, payload, options) {
      const kept = await writer.offer((tables) => {
        const run = find(tables, runId);
        const id = options?.id ?? name;
        if (tables.signals.has(run.n, name, id)) return undefined;
        if (terminalStatuses.includes(run.status)) throw ended(run);
        tables.signals.insert(run.n, name, id, JSON.stringify(payload));
        const seq = tables.events.append(run.n, options?.events ?? [], clock.moment());
        tables.states.wake(run.n, name, clock.moment());
        return { seq };
      });
      if (kept === undefined) return "duplicate";
      if (kept.seq > 0) live.committed(runId, kept.seq);
      worker.signaled(runId);
      return "stored";
    },
    watch: (runId, { after, watcher, signal }) =>
      writer.offer((tables) => {
        const run = find(tables, runId);
        const { n } = find(tables, watcher);
        const hasNews = run.last_event > after || terminalStatuses.includes(run.status);
        if (hasNews) tables.watchers.deliver(n, signal, `${runId}/${after}`, clock.moment());
        else tables.watchers.put(run.n, n, signal, `${runId}/${after}`);
      }),
    async cancel(runId) {
      const seq = await writer.offer((tables) => cancel(tables, runId, clock.moment()));
      if (seq > 0) live.committed(runId, seq);
      worker.canceled(runId);
    },
    async resume(runId) {
      const seq = await writer.offer((tables) => {
        const run = find(tables, runId);
        if (terminalStatuses.includes(run.status)) throw ended(run);
        if (run.status !== "paused") return 0;
        tables.states.queue(run.n, clock.moment());
        return tables.events.append(run.n, [{ type: "run-resumed" }], clock.moment());
      });
      if (seq > 0) live.committed(runId, seq);
      worker.wake();
    },
  };
}

/**
 * The acceptance of a run that is executed meanwhile, so that both share one commit: if there is
 * room for it and nothing speaks against it. Only another process could still have it refused.
 */
function acceptanceOf(writer: Writer, request: StartRequest, place: Seat | undefined): Acceptance | undefined {
  const { principal, dedupe, id, quota, canceled } = request;
  if (place === undefined || id !== undefined || quota !== undefined || canceled === true) return undefined;
  const isNew = writer.readNow(({ runs }) => dedupe === undefined || runs.byKey(principal, dedupe.key) === null);
  return isNew === true ? new Acceptance(place.owner) : undefined;
}

/** Stores the run, which begins meanwhile if it has an acceptance. */
async function store(
  { writer, clock }: IntakeDeps,
  request: StartRequest,
  place: Seat | undefined,
  acceptance: Acceptance | undefined,
): Promise<Accepted> {
  const { kind, principal, contextId, id = Bun.randomUUIDv7() } = request;
  const input = JSON.stringify(request.input);
  const lease = acceptance?.lease;
  const stored = writer.offer((tables) => {
    if (lease !== undefined) lease.n = 0;
    const accepted = accept(tables, { ...request, id }, input, clock.moment(), place);
    if (lease !== undefined && isClaimed(accepted)) lease.n = accepted.row.n;
    return accepted;
  });
  if (acceptance !== undefined && place !== undefined)
    place.begin({ id, kind, principal, contextId, input, body: place.body, lease: acceptance.lease, acceptance });
  try {
    const accepted = await stored;
    acceptance?.settle(isClaimed(accepted));
    return accepted;
  } catch (error) {
    acceptance?.settle(false);
    throw error;
  }
}

type Accepted = { readonly row: RunRow; readonly created: boolean };

/** Whether the run is new and belongs to the worker for which it was accepted. */
function isClaimed({ row, created }: Accepted): boolean {
  return created && row.owner !== null;
}

/**
 * Stores a run and assigns it to the place's worker, which saves the query and commit of a claim.
 */
function accept(
  tables: Tables,
  request: StartRequest & { readonly id: string },
  input: string,
  now: Moment,
  place: Seat | undefined,
): Accepted {
  const { dedupe } = request;
  const known = dedupe === undefined ? null : tables.runs.byKey(request.principal, dedupe.key);
  if (known !== null) {
    if (isRepeated(known, request, now)) return { row: known, created: false };
    tables.runs.releaseKey(known.n);
  }
  const { quota, id } = request;
  if (quota !== undefined) checkQuota(quota, tables.usage.of(request.principal, now.wall), now.wall, true);
  if (tables.runs.byId(id) !== null) throw new AppError("conflict", `There is a run ${id} already.`);
  const n = tables.runs.insert({
    id,
    kind: request.kind,
    principal: request.principal,
    contextId: request.contextId,
    input,
    dedupeKey: dedupe?.key ?? null,
    dedupeHash: dedupe?.hash ?? null,
    counted: quota === undefined ? 0 : 1,
    ...now,
  });
  tables.events.append(n, request.events ?? [], now);
  if (request.canceled === true) {
    endRun(tables, n, { status: "canceled" }, now);
    return { row: find(tables, id), created: true };
  }
  const taken = place === undefined ? null : tables.claims.take(n, place.owner, place.body, now);
  return { row: taken ?? find(tables, id), created: true };
}

/** Throws QuotaError if the principal may use nothing more, unless the request repeats another. */
export function admit(tables: Tables, request: Parameters<Engine["admit"]>[0], now: Moment): void {
  const { principal, dedupe, quota, starts } = request;
  const known = dedupe === undefined ? null : tables.runs.byKey(principal, dedupe.key);
  if (known !== null && isRepeated(known, request, now)) return;
  checkQuota(quota, tables.usage.of(principal, now.wall), now.wall, starts);
}

/**
 * Whether a request repeats the one that the run with its key was accepted for. Throws `conflict`
 * for another request under that key.
 */
function isRepeated(
  known: RunRow,
  { dedupe, contextId }: Pick<StartRequest, "dedupe" | "contextId">,
  { steady }: Moment,
): boolean {
  const { hash, withinMs = Number.POSITIVE_INFINITY, perContext = false } = dedupe ?? {};
  if (steady - (known.accepted_at ?? known.created_at) >= withinMs) return false;
  if (hash === undefined || known.dedupe_hash === null || known.dedupe_hash === hash) return true;
  if (perContext && contextId !== known.context_id) return false;
  throw new AppError("conflict", "This id was already used for another request: send a new id, or the same request.");
}

/** Ends a run that no worker executes at once; otherwise its worker ends it. */
function cancel(tables: Tables, runId: string, now: Moment): number {
  const run = find(tables, runId);
  if (run.status === "canceled") return 0;
  if (terminalStatuses.includes(run.status)) throw ended(run);
  if (run.status !== "running") return endRun(tables, run.n, { status: "canceled" }, now);
  tables.states.requestCancel(run.n, now);
  return 0;
}

function find(tables: Tables, runId: string): RunRow {
  const run = tables.runs.byId(runId);
  if (run === null) throw new AppError("not_found", `There is no run ${runId}.`);
  return run;
}

function ended(run: RunRow): AppError {
  return new AppError("run_ended", `The run has ended as ${run.status}.`);
}
