import type { Database } from "bun:sqlite";
import type { RunColumns } from "../../run-row.ts";

/** A row of `runs` as SQLite returns it. */
export type RunRow = RunColumns<number> & {
  readonly cancel_requested: number;
  readonly dedupe_hash: string | null;
  /** On the runs' clock, while `created_at` is wall time; null for runs of earlier versions. */
  readonly accepted_at: number | null;
};

/** How a run ended: its output and its error as JSON texts, if it has one. */
export type Result = Pick<RunRow, "status" | "output" | "error">;

type RunHead = Pick<RunRow, "n" | "id" | "status" | "last_event">;

/** A run to be stored. */
export type NewRunRow = {
  readonly id: string;
  readonly kind: string;
  readonly principal: string;
  readonly contextId: string;
  readonly input: string;
  readonly dedupeKey: string | null;
  readonly dedupeHash: string | null;
  /** 1 for a run that counts among those its principal has at once. */
  readonly counted: 0 | 1;
  /** How many events are stored with it. */
  readonly lastEvent: number;
  /** The worker that executes it at once, and the version of the body it begins with. */
  readonly owner: string | null;
  readonly body: number | null;
  /** How it has ended already in its worker. */
  readonly result?: Result | undefined;
  readonly wall: number;
  readonly steady: number;
};

/** Statements that add and find runs. */
export function runsTable(db: Database) {
  const insert = db.query<null, (string | number | null)[]>(
    // A number is never used again: it is a part of every lease.
    `INSERT INTO runs (id, kind, principal, context_id, input, output, error, dedupe_key, dedupe_hash, counted,
       status, owner, epoch, body, due, last_event, accepted_at, created_at, updated_at, n)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
       1 + max((SELECT ifnull(max(n), 0) FROM runs), (SELECT last_number FROM deletions)))
     ON CONFLICT (principal, dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING`,
  );
  const worker = db.query<{ id: string }, [string]>("SELECT id FROM workers WHERE id = ?");
  const byId = db.query<RunRow, [string]>("SELECT * FROM runs WHERE id = ?");
  const ofPrincipal = db.query<RunRow, [string, string]>("SELECT * FROM runs WHERE id = ? AND principal = ?");
  const head = db.query<RunHead, [string]>("SELECT n, id, status, last_event FROM runs WHERE id = ?");
  const byKey = db.query<RunRow, [string, string]>("SELECT * FROM runs WHERE principal = ? AND dedupe_key = ?");
  const releaseKey = db.query("UPDATE runs SET dedupe_key = NULL, dedupe_hash = NULL WHERE n = ?");
  return {
    /**
     * Undefined, with nothing stored, if its worker was declared dead or its dedupe key is taken.
     */
    insert(run: NewRunRow): RunRow | undefined {
      // A worker declared dead meanwhile gets no run, since no one would take it over from it.
      if (run.owner !== null && worker.get(run.owner) === null) return undefined;
      const row = rowOf(run);
      const { id, kind, status, principal, context_id, input, output, error, owner, epoch, body } = row;
      const about = [
        id,
        kind,
        principal,
        context_id,
        input,
        output,
        error,
        run.dedupeKey,
        row.dedupe_hash,
        run.counted,
      ];
      const due = status === "queued" ? run.steady : null;
      const state = [status, owner, epoch, body, due, row.last_event, row.accepted_at, row.created_at, row.updated_at];
      const { changes, lastInsertRowid } = insert.run(...about, ...state);
      return changes === 0 ? undefined : { ...row, n: Number(lastInsertRowid) };
    },
    byId: (id: string) => byId.get(id),
    ofPrincipal: (id: string, principal: string) => ofPrincipal.get(id, principal),
    /** The few columns that followers need. */
    head: (id: string) => head.get(id),
    byKey: (principal: string, key: string) => byKey.get(principal, key),
    /** Frees a run's dedupe key for another run. */
    releaseKey: (n: number) => void releaseKey.run(n),
  };
}

/** The row of a new run, which gets its number when it is stored. */
function rowOf({ id, kind, principal, contextId, input, result, owner, ...run }: NewRunRow): RunRow {
  const { status, output, error } = result ?? {
    status: owner === null ? "queued" : "running",
    output: null,
    error: null,
  };
  return {
    ...{ n: 0, id, kind, status, principal, context_id: contextId, input, output, error },
    owner: status === "running" ? owner : null,
    epoch: owner === null ? 0 : 1,
    body: run.body,
    cancel_requested: 0,
    waiting_signal: null,
    waiting_reason: null,
    last_event: run.lastEvent,
    dedupe_hash: run.dedupeHash,
    accepted_at: run.steady,
    created_at: run.wall,
    updated_at: run.wall,
  };
}
