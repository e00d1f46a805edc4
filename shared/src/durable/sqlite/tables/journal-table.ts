import type { Database } from "bun:sqlite";
import type { Json } from "../../../core/json.ts";
import type { JournalRow } from "../../replay/run-store.ts";

type Stored = {
  path: string;
  kind: JournalRow["kind"];
  name: string;
  state: JournalRow["state"];
  out: string | null;
  error: string | null;
};

/** Statements over `journal`. */
export function journalTable(db: Database) {
  const put = db.query<null, [number, string, string, string, string, string | null, string | null]>(
    `INSERT INTO journal (run, path, kind, name, state, out, error) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (run, path) DO UPDATE SET state = excluded.state, out = excluded.out, error = excluded.error
     WHERE state = 'started'`,
  );
  const reopen = db.query<null, [number, string]>(
    "UPDATE journal SET state = 'started', out = NULL WHERE run = ? AND path = ?",
  );
  const ofRun = db.query<Stored, [number]>("SELECT path, kind, name, state, out, error FROM journal WHERE run = ?");
  const recorded = db.query<{ value: string }, [string, number, string]>(
    `SELECT out -> ? AS value FROM journal WHERE run = ? AND state = 'done' AND out -> ? IS NOT NULL`,
  );
  return {
    /** Adds the row, or finishes a started one; a finished row does not change. */
    put(run: number, row: JournalRow): void {
      const error = row.error === undefined ? null : JSON.stringify(row.error);
      put.run(run, row.path, row.kind, row.name, row.state, row.out ?? null, error);
    },
    /** Turns a finished row back into a started one. */
    reopen: (run: number, path: string) => void reopen.run(run, path),
    /** The values of this field in the results of finished steps. */
    recorded(run: number, field: string): Json[] {
      const path = `$."${field}"`;
      return recorded.all(path, run, path).map(({ value }) => JSON.parse(value));
    },
    ofRun(run: number): JournalRow[] {
      return ofRun.all(run).map(({ path, kind, name, state, out, error }) => ({
        path,
        kind,
        name,
        state,
        ...(out === null ? {} : { out }),
        ...(error === null ? {} : { error: JSON.parse(error) }),
      }));
    },
  };
}
