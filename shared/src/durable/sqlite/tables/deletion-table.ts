import type { Database } from "bun:sqlite";
import { terminalStatuses } from "../../../core/runs/engine.ts";
import type { Conversation } from "../../../core/runs/housekeeping.ts";
import type { KnownRuns } from "./known-runs.ts";
import { askedHere } from "./listing.ts";
import type { RunRow } from "./runs-table.ts";
import { askerOf } from "./schema.ts";

/** Most runs have ended, so the plus keeps SQLite from looking them up by their status. */
const ended = `+status IN (${terminalStatuses.map((status) => `'${status}'`).join(", ")})`;
const unfinishedRun = "status IN ('queued', 'running', 'waiting', 'paused')";

/** The place of the last run of a page of expired ones. */
export type ExpiredPlace = { readonly at: number; readonly id: string };

/** Statements that delete runs, and that find those to delete; `n` is a run's key. */
export function deletionTable(db: Database, knownRuns: KnownRuns) {
  const asked = db.query<RunRow, [string, string]>(
    `SELECT * FROM runs WHERE principal = ? AND instr(dedupe_key, '/') > 0 AND ${askerOf("")} = ?`,
  );
  const files = db.query<{ sha256: string }, [number]>("SELECT sha256 FROM file_runs WHERE run = ?");
  const steps = ["journal", "signals"].map((table) => db.query<null, [number]>(`DELETE FROM ${table} WHERE run = ?`));
  const rest = ["events", "file_runs"].map((table) => db.query<null, [number]>(`DELETE FROM ${table} WHERE run = ?`));
  const said = db.query<null, [number]>("DELETE FROM search WHERE rowid = ?");
  const run = db.query<null, [number]>("DELETE FROM runs WHERE n = ?");
  const number = db.query<null, [number]>("UPDATE deletions SET last_number = max(last_number, ?)");
  const unscrubbed = db.query<{ unscrubbed: number }, []>("SELECT unscrubbed FROM deletions");
  const addUnscrubbed = db.query<null, [number]>("UPDATE deletions SET unscrubbed = unscrubbed + ?");
  const disown = db.query<null, [string, string, string, string]>(
    `DELETE FROM files WHERE sha256 = ? AND principal = ? AND NOT EXISTS (
       SELECT 1 FROM file_runs JOIN runs ON runs.n = file_runs.run WHERE sha256 = ? AND principal = ?)`,
  );
  const inConversation = db.query<{ n: number }, [string, string, string]>(
    "SELECT n FROM runs WHERE context_id = ? AND principal = ? AND kind = ? LIMIT 1",
  );
  const expired = db.query<{ id: string; updated_at: number }, [number, number, number, string, number]>(
    `SELECT id, updated_at FROM runs WHERE ${ended} AND updated_at <= ? AND created_at <= ?
       AND (updated_at, id) > (?, ?) AND NOT ${askedHere}
       AND NOT EXISTS (SELECT 1 FROM runs AS other
         WHERE other.context_id IN (runs.context_id, runs.id) AND other.principal = runs.principal AND other.${unfinishedRun})
     ORDER BY updated_at, id LIMIT +?`,
  );
  const withSteps = db.query<{ n: number; has: number }, [number, number, number]>(
    `SELECT n, EXISTS (SELECT 1 FROM journal WHERE run = runs.n)
       OR EXISTS (SELECT 1 FROM signals WHERE run = runs.n) AS has
     FROM runs WHERE n > ? AND ${ended} AND updated_at <= ? ORDER BY n LIMIT +?`,
  );
  const unfinished = db.query<{ n: number }, []>(`SELECT n FROM runs WHERE ${unfinishedRun}`);
  const texts = db.query<{ text: string }, [number, number]>(
    `SELECT out AS text FROM journal WHERE run = ? AND out IS NOT NULL
     UNION ALL SELECT payload FROM signals WHERE run = ?`,
  );
  return {
    /** The runs that steps of this one asked for. */
    asked: ({ principal, id }: RunRow) => asked.all(principal, id),
    filesOf: (n: number) => files.all(n).map(({ sha256 }) => sha256),
    remove(n: number): void {
      knownRuns.forget(n);
      for (const statement of [...steps, ...rest, said, run]) statement.run(n);
      number.run(n);
    },
    /** A principal no longer has a file that none of its runs refers to. */
    disown: (sha256: string, principal: string) => void disown.run(sha256, principal, sha256, principal),
    isEmpty: ({ contextId, principal, kind }: Conversation) => inConversation.get(contextId, principal, kind) === null,
    expired: (endedBy: number, acceptedBy: number, after: ExpiredPlace, limit: number) =>
      expired.all(endedBy, acceptedBy, after.at, after.id, limit),
    /** Runs that ended by then, in order, and whether each has a journal or signals. */
    ended: (endedBy: number, after: number, limit: number) =>
      withSteps.all(after, endedBy, limit).map(({ n, has }) => ({ n, hasSteps: has === 1 })),
    removeSteps(n: number): void {
      for (const statement of steps) statement.run(n);
    },
    /** How many deletions left traces in the unused space of the file. */
    unscrubbed: () => unscrubbed.get()?.unscrubbed ?? 0,
    addUnscrubbed: (count: number) => void addUnscrubbed.run(count),
    unfinished: () => unfinished.all().map(({ n }) => n),
    /** Everything that a run has recorded and been sent. */
    texts: (n: number) => texts.all(n, n).map(({ text }) => text),
  };
}
