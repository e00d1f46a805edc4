import type { Database } from "bun:sqlite";
import type { StoredFile } from "../../../core/workspace.ts";

/**
 * Statements over `files` and `file_runs`: which principals, and which runs, refer to a file, by
 * its content's hash.
 */
export function filesTable(db: Database) {
  const insert = db.query<null, [string, number, number]>(
    "INSERT OR IGNORE INTO files (principal, sha256, size) SELECT principal, ?, ? FROM runs WHERE n = ?",
  );
  const refer = db.query<null, [string, number]>("INSERT OR IGNORE INTO file_runs (sha256, run) VALUES (?, ?)");
  const used = db.query<{ sha256: string }, [string]>(
    "SELECT DISTINCT sha256 FROM file_runs WHERE sha256 IN (SELECT value FROM json_each(?))",
  );
  const find = db.query<{ sha256: string }, [string, string]>(
    "SELECT sha256 FROM files WHERE principal = ? AND sha256 = ?",
  );
  return {
    /** A run refers to a file, which becomes one of its principal's. */
    insert(run: number, { sha256, size }: StoredFile): void {
      insert.run(sha256, size, run);
      refer.run(sha256, run);
    },
    /** Those of these hashes that the events of a run refer to. */
    used: (hashes: readonly string[]): string[] => used.all(JSON.stringify(hashes)).map(({ sha256 }) => sha256),
    has: (principal: string, sha256: string) => find.get(principal, sha256) !== null,
  };
}

/** The statements of `filesTable`. */
export type FilesTable = ReturnType<typeof filesTable>;
