import type { Database } from "bun:sqlite";
import type { StoredFile } from "../../../core/workspace.ts";

/**
 * Statements over `files`: which principals have runs that refer to a file, by its content's hash.
 */
export function filesTable(db: Database) {
  const insert = db.query<null, [string, number, number]>(
    "INSERT OR IGNORE INTO files (principal, sha256, size) SELECT principal, ?, ? FROM runs WHERE n = ?",
  );
  const find = db.query<{ sha256: string }, [string, string]>(
    "SELECT sha256 FROM files WHERE principal = ? AND sha256 = ?",
  );
  return {
    /** Gives a file to the principal of a run. */
    insert: (run: number, { sha256, size }: StoredFile) => void insert.run(sha256, size, run),
    has: (principal: string, sha256: string) => find.get(principal, sha256) !== null,
  };
}

/** The statements of `filesTable`. */
export type FilesTable = ReturnType<typeof filesTable>;
