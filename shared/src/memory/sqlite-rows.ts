import { Database } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../core/errors.ts";
import { type EntryRow, entryColumns, entryOf, type MemoryRows, valuesOf } from "./memory-rows.ts";
import { bytesOf, vectorOf } from "./vector-bytes.ts";

/** How long a statement waits for another process that writes. */
const busyMs = 5_000;

/** One entry per release that changes the schema, which only adds. */
const migrations = [
  `CREATE TABLE memories (
     n INTEGER PRIMARY KEY, principal TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
     terms TEXT NOT NULL, sources TEXT NOT NULL, author TEXT NOT NULL, is_public INTEGER NOT NULL,
     created INTEGER NOT NULL, changed INTEGER NOT NULL, embedded_by TEXT, vector BLOB, UNIQUE (principal, id)) STRICT;
   CREATE VIRTUAL TABLE memory_terms USING fts5 (
     terms, content = 'memories', content_rowid = 'n', tokenize = 'unicode61 remove_diacritics 0');`,
];

/** The entries in this file, which is made readable only by its owner. */
export function sqliteRows(path: string): MemoryRows {
  mkdirSync(dirname(path), { recursive: true });
  // Closing a file takes away the locks that this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  const db = new Database(path, { strict: true });
  db.run(`PRAGMA busy_timeout = ${busyMs}`);
  // No log beside the file: what is deleted would stay in it.
  db.run("PRAGMA journal_mode = TRUNCATE");
  db.run("PRAGMA secure_delete = ON");
  migrate(db, path);
  return { ...reads(db), ...writes(db), close: async () => db.close() };
}

function reads(db: Database): Pick<MemoryRows, "all" | "match" | "vectors"> {
  return {
    all: async (principal) =>
      db
        .query<EntryRow, [string]>(
          `SELECT ${entryColumns} FROM memories WHERE principal = ? ORDER BY changed DESC, n DESC`,
        )
        .all(principal)
        .map(entryOf),
    match: async (principal, terms, most) =>
      db
        .query<{ id: string }, [string, string, number]>(
          `SELECT id FROM memory_terms JOIN memories ON memories.n = memory_terms.rowid
           WHERE memory_terms MATCH ? AND principal = ? ORDER BY rank LIMIT ?`,
        )
        .all(terms.map((term) => `"${term}"`).join(" OR "), principal, most)
        .map(({ id }) => id),
    async vectors(principal, model) {
      const rows = db
        .query<{ id: string; vector: Uint8Array }, [string, string]>(
          "SELECT id, vector FROM memories WHERE principal = ? AND embedded_by = ? AND vector IS NOT NULL",
        )
        .all(principal, model);
      return new Map(rows.map(({ id, vector }) => [id, vectorOf(vector)]));
    },
  };
}

function writes(db: Database): Pick<MemoryRows, "insert" | "update" | "remove" | "keepVectors"> {
  /** One transaction, after which neither the index nor the file has a word of what is gone. */
  const rewriting = <Result>(work: () => Result): Result => {
    const change = db.transaction(() => {
      const done = work();
      db.run("INSERT INTO memory_terms (memory_terms) VALUES ('rebuild')");
      return done;
    });
    const result = change.immediate();
    db.run("VACUUM");
    return result;
  };
  return {
    insert: async (principal, entry, terms, most) =>
      db
        .transaction(() => {
          const { changes } = db
            .query(
              `INSERT INTO memories (principal, ${entryColumns}, terms) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
               WHERE (SELECT count(*) FROM memories WHERE principal = ?) < ?`,
            )
            .run(principal, ...valuesOf(entry), terms.join(" "), principal, most);
          if (changes > 0)
            db.run("INSERT INTO memory_terms (rowid, terms) VALUES (last_insert_rowid(), ?)", [terms.join(" ")]);
          return changes > 0;
        })
        .immediate(),
    update: async (principal, entry, terms) =>
      rewriting(() => {
        const [id, kind, text, sources, author, isPublic, , changed] = valuesOf(entry);
        return (
          db
            .query(
              `UPDATE memories SET kind = ?, text = ?, sources = ?, author = ?, is_public = ?, changed = ?, terms = ?,
               embedded_by = NULL, vector = NULL WHERE principal = ? AND id = ?`,
            )
            .run(kind, text, sources, author, isPublic, changed, terms.join(" "), principal, id).changes > 0
        );
      }),
    remove: async (principal, ids) =>
      rewriting(
        () =>
          db
            .query(
              `DELETE FROM memories WHERE principal = ?1 AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2)))`,
            )
            .run(principal, ids === undefined ? null : JSON.stringify(ids)).changes,
      ),
    async keepVectors(principal, model, vectors) {
      const keep = db.query(
        "UPDATE memories SET embedded_by = ?, vector = ? WHERE principal = ? AND id = ? AND changed = ?",
      );
      db.transaction(() => {
        for (const { id, changedAt, vector } of vectors) keep.run(model, bytesOf(vector), principal, id, changedAt);
      }).immediate();
    },
  };
}

function migrate(db: Database, path: string): void {
  const version = () => db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
  if (version() > migrations.length + 1)
    throw new AppError("config_invalid", `${path} was written by a newer version. Upgrade, or use another home.`);
  if (version() >= migrations.length) return;
  db.transaction(() => {
    for (const migration of migrations.slice(version())) db.run(migration);
    db.run(`PRAGMA user_version = ${migrations.length}`);
  }).immediate();
}
