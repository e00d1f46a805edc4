import { AppError } from "../../core/errors.ts";
import {
  type Engine,
  type RunRecord,
  type StartRequest,
  type StoredEvent,
  terminalStatuses,
} from "../../core/runs/engine.ts";
import { checkQuota, isLimited } from "../../core/runs/quota.ts";
import type { Live } from "../live.ts";
import { recordOf } from "../run-row.ts";
import { Acceptance, type Beginning } from "./acceptance.ts";
import type { Moment, RunClock } from "./run-clock.ts";
import type { RunRow } from "./tables/runs-table.ts";
import type { Tables } from "./tables/tables.ts";
import { claimOf } from "./workers/claim.ts";
import { endedEvent, endRun, resultOf } from "./workers/endings.ts";
import type { Seat, Worker } from "./workers/worker.ts";
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
      const seat = worker.reserve(request.kind);
      try {
        const acceptance = key === undefined || isAlone ? acceptanceOf(request, seat) : undefined;
        const { row, created, isOurs, ended } = await store(deps, request, seat, acceptance);
        if (acceptance === undefined && seat !== undefined && isOurs) seat.begin(claimOf(row, seat.owner));
        else if (created && !isOurs) worker.wake();
        if (created) live.committed(row.id, row.last_event);
        const record = recordOf(row);
        const run = isOurs ? asAccepted(record, request) : record;
        if (ended === undefined) return { run, created };
        const events = ended.map((text, at) => storedEvent(row, text, at + 1));
        return { run, created, ended: { run: record, events } };
      } finally {
        if (isAlone) accepting.delete(key);
        seat?.leave();
      }
    },
    async deliver(runId, name, payload, options) {
      const kept = await writer.offer((tables) => {
        const run = find(tables, runId);
        const id = options?.id ?? name;
        if (tables.signals.has(run.n, name, id)) return undefined;
        if (terminalStatuses.includes(run.status)) throw ended(run);
        if (run.last_event > (options?.ifLast ?? run.last_event)) return "outdated" as const;
        tables.signals.insert(run.n, name, id, JSON.stringify(payload));
        const seq = tables.events.append(run.n, options?.events ?? [], clock.moment());
        tables.states.wake(run.n, name, clock.moment());
        return { seq };
      });
      if (kept === undefined) return "duplicate";
      if (kept === "outdated") return kept;
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
 * room for it and no limit speaks against it. Whether it repeats another request, its insert says:
 * what the body has computed by then is dropped.
 */
function acceptanceOf({ id, quota, canceled }: StartRequest, seat: Seat | undefined): Acceptance | undefined {
  if (seat === undefined || id !== undefined || canceled === true) return undefined;
  return quota !== undefined && isLimited(quota) ? undefined : new Acceptance(seat.owner);
}

/** Stores the run, which begins meanwhile if it has an acceptance. */
async function store(
  { writer, clock }: IntakeDeps,
  request: StartRequest,
  seat: Seat | undefined,
  acceptance: Acceptance | undefined,
): Promise<Accepted> {
  const { kind, principal, contextId, id = Bun.randomUUIDv7() } = request;
  const input = JSON.stringify(request.input);
  const lease = acceptance?.lease;
  const offer = (forSeat: Seat | undefined, beginning: () => Beginning | undefined) =>
    writer.offer((tables) => {
      if (lease !== undefined) lease.n = 0;
      const accepted = accept(tables, request, { id, input, seat: forSeat, beginning: beginning() }, clock.moment());
      if (lease !== undefined && accepted.isOurs) lease.n = accepted.row.n;
      return accepted;
    });
  const stored = offer(seat, () => acceptance?.beginning());
  if (acceptance !== undefined && seat !== undefined)
    seat.begin({ id, kind, principal, contextId, input, body: seat.body, lease: acceptance.lease, acceptance });
  try {
    const accepted = await stored;
    acceptance?.settle(accepted.isOurs);
    return accepted;
  } catch (error) {
    acceptance?.settle(false);
    if (error instanceof AppError || acceptance === undefined || isEmpty(acceptance.beginning())) throw error;
    // What it has made of it cannot be stored, but that is no reason to refuse the run.
    return offer(undefined, () => undefined);
  }
}

/**
 * `isOurs` if the run is new and the worker for which it was accepted has it; `ended` are its
 * events, as JSON texts, if it is over already.
 */
type Accepted = {
  readonly row: RunRow;
  readonly created: boolean;
  readonly isOurs: boolean;
  readonly ended?: readonly string[];
};

/** How to accept a run: for the worker of a seat, with what that has made of it. */
type Acceptable = {
  readonly id: string;
  readonly input: string;
  readonly seat: Seat | undefined;
  readonly beginning: Beginning | undefined;
};

/**
 * Stores a run and assigns it to the seat's worker, which saves the query and commit of a claim;
 * what that has made of it meanwhile is stored in the same rows.
 */
function accept(tables: Tables, request: StartRequest, acceptable: Acceptable, now: Moment): Accepted {
  const { principal, dedupe, id, quota, canceled } = request;
  const limit = quota !== undefined && isLimited(quota) ? quota : undefined;
  const { beginning = nothing, seat } = acceptable;
  // Whether its key is new, the insert itself says.
  const isPlain = limit === undefined && id === undefined && canceled !== true;
  const plain =
    isPlain && seat !== undefined ? insert(tables, request, { ...acceptable, seat, beginning }, now) : undefined;
  if (plain !== undefined) return plain;
  const known = dedupe === undefined ? null : tables.runs.byKey(principal, dedupe.key);
  if (known !== null) {
    if (isRepeated(known, request, now)) return { row: known, created: false, isOurs: false };
    tables.runs.releaseKey(known.n);
  }
  if (limit !== undefined) checkQuota(limit, tables.usage.of(principal, now.wall), now.wall, true);
  if (id !== undefined && tables.runs.byId(id) !== null)
    throw new AppError("conflict", `There is a run ${id} already.`);
  const seated = canceled === true ? undefined : insert(tables, request, { ...acceptable, beginning }, now);
  const accepted = seated ?? insert(tables, request, { ...acceptable, seat: undefined, beginning: nothing }, now);
  if (accepted === undefined) throw new Error("A new run was not stored.");
  if (canceled !== true) return accepted;
  endRun(tables, accepted.row.n, { status: "canceled" }, now);
  return { ...accepted, row: find(tables, accepted.row.id) };
}

const nothing: Beginning = { records: [], ending: undefined };

/** Undefined if the seat's worker was declared dead or the request's key is taken. */
function insert(
  tables: Tables,
  { kind, principal, contextId, dedupe, quota, events = [] }: StartRequest,
  { id, input, seat, beginning: { records, ending } }: Acceptable & { readonly beginning: Beginning },
  now: Moment,
): Accepted | undefined {
  const all = [...events, ...records.flatMap((record) => record.events), ...(ending ? [endedEvent(ending)] : [])];
  const row = tables.runs.insert({
    ...{ id, kind, principal, contextId, input },
    ...{ dedupeKey: dedupe?.key ?? null, dedupeHash: dedupe?.hash ?? null },
    counted: quota === undefined ? 0 : 1,
    lastEvent: all.length,
    owner: seat?.owner ?? null,
    body: seat?.body ?? null,
    result: ending && resultOf(ending),
    ...now,
  });
  if (row === undefined) return undefined;
  const texts = tables.events.first(row.n, all, now);
  for (const record of records) tables.journal.put(row.n, record.row);
  return { row, created: true, isOurs: seat !== undefined, ...(ending && { ended: texts }) };
}

function isEmpty({ records, ending }: Beginning): boolean {
  return records.length === 0 && ending === undefined;
}

/** A run as it was before its worker made anything of it. */
function asAccepted({ output, error, ...run }: RunRecord, { events = [] }: StartRequest): RunRecord {
  return { ...run, status: "running", lastEvent: events.length };
}

/** As it is read from the store. */
function storedEvent({ id, created_at }: RunRow, text: string, seq: number): StoredEvent {
  return { runId: id, seq, at: created_at, event: JSON.parse(text) };
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
