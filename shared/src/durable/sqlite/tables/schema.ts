import type { Database } from "bun:sqlite";
import { AppError } from "../../../core/errors.ts";

/**
 * The id of the run whose step asked for a run, or another text of 36 characters: a dedupe key is a
 * JSON array that ends in the message's id, which is `runId/path` if a step sent it.
 */
export const askerOf = (table: string) =>
  `substr(CASE WHEN json_valid(${table}dedupe_key) THEN json_extract(${table}dedupe_key, '$[#-1]') END, 1, 36)`;

/**
 * One entry per release that changes the schema; the file's `user_version` counts those applied.
 * The release before must work on it, so an entry only adds: tables, indexes, and columns that may
 * be left out. Never change a released entry.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE runs (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    principal TEXT NOT NULL,
    context_id TEXT NOT NULL,
    input TEXT NOT NULL,
    output TEXT,
    error TEXT,
    owner TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    due INTEGER,
    awaited TEXT,
    waiting_signal TEXT,
    waiting_reason TEXT,
    last_event INTEGER NOT NULL DEFAULT 0,
    dedupe_key TEXT,
    dedupe_hash TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX runs_dedupe ON runs (principal, dedupe_key) WHERE dedupe_key IS NOT NULL;
  CREATE INDEX runs_status ON runs (status, due);
  CREATE INDEX runs_owned ON runs (owner) WHERE owner IS NOT NULL;
  CREATE INDEX runs_updated ON runs (updated_at, id);
  CREATE INDEX runs_context ON runs (context_id);

  CREATE TABLE journal (
    run INTEGER NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    out TEXT,
    error TEXT,
    UNIQUE (run, path)
  ) STRICT;

  CREATE TABLE events (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    event TEXT NOT NULL,
    UNIQUE (run, seq)
  ) STRICT;

  CREATE TABLE signals (
    n INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    payload TEXT NOT NULL,
    taken_by TEXT,
    UNIQUE (run, name, id)
  ) STRICT;

  CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_start TEXT NOT NULL,
    beat INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE probe (room BLOB) STRICT;
  `,
  `
  CREATE TABLE clock (
    n INTEGER PRIMARY KEY,
    boot TEXT NOT NULL,
    uptime REAL NOT NULL,
    wall REAL NOT NULL,
    steady REAL NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE runs ADD COLUMN accepted_at INTEGER;
  CREATE TABLE files (
    principal TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (principal, sha256)
  ) STRICT, WITHOUT ROWID;
  INSERT OR IGNORE INTO files (principal, sha256, size)
    SELECT runs.principal, file.value ->> '$.sha256', ifnull(file.value ->> '$.size', 0)
    FROM events
    JOIN runs ON runs.n = events.run
    JOIN (VALUES ('$.parts'), ('$.files'), ('$.images')) AS field
    JOIN json_each(events.event, field.column1) AS file
    WHERE events.event LIKE '%"sha256":"%' AND file.type = 'object' AND file.value ->> '$.sha256' IS NOT NULL;
  `,
  `
  ALTER TABLE runs ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX runs_under_way ON runs (principal)
    WHERE counted = 1 AND status IN ('queued', 'running', 'waiting', 'paused');
  CREATE TABLE usage (
    principal TEXT NOT NULL,
    day TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    usd REAL NOT NULL,
    PRIMARY KEY (principal, day)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE watchers (
    run INTEGER NOT NULL,
    watcher INTEGER NOT NULL,
    signal TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (run, watcher, signal)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE file_runs (
    sha256 TEXT NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (sha256, run)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX file_runs_run ON file_runs (run);
  INSERT OR IGNORE INTO file_runs (sha256, run)
    SELECT file.value ->> '$.sha256', events.run
    FROM events
    JOIN (VALUES ('$.parts'), ('$.files'), ('$.images')) AS field
    JOIN json_each(events.event, field.column1) AS file
    WHERE events.event LIKE '%"sha256":"%' AND file.type = 'object' AND file.value ->> '$.sha256' IS NOT NULL;
  CREATE INDEX runs_asker ON runs (principal,
    substr(CASE WHEN json_valid(dedupe_key) THEN json_extract(dedupe_key, '$[#-1]') END, 1, 36))
    WHERE dedupe_key IS NOT NULL;
  CREATE INDEX runs_unfinished ON runs (context_id) WHERE status IN ('queued', 'running', 'waiting', 'paused');
  CREATE TABLE deletions (last_number INTEGER NOT NULL, unscrubbed INTEGER NOT NULL) STRICT;
  INSERT INTO deletions (last_number, unscrubbed) VALUES (0, 0);
  `,
  // Flows recorded the version of their body in their first step before runs had one.
  `
  ALTER TABLE runs ADD COLUMN body INTEGER;
  ALTER TABLE workers ADD COLUMN bodies TEXT;
  UPDATE runs SET body = (SELECT out ->> '$.body' FROM journal
      WHERE run = runs.n AND path = '0' AND name = 'begin' AND json_type(out, '$.body') = 'integer')
    WHERE status IN ('queued', 'running', 'waiting', 'paused') AND epoch > 0;
  `,
  // The former index had every run, at a place as random as its message's id: one more page to
  // write for each.
  `
  DROP INDEX runs_asker;
  CREATE INDEX runs_asked ON runs (principal,
    substr(CASE WHEN json_valid(dedupe_key) THEN json_extract(dedupe_key, '$[#-1]') END, 1, 36))
    WHERE instr(dedupe_key, '/') > 0;
  `,
  // Of what runs say there are only numbers, see core/search-grams. A run is entered once it has
  // ended, and its place in its principal's list is written then and not with each event.
  `
  ALTER TABLE runs ADD COLUMN searchable INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX runs_unsearchable ON runs (n) WHERE searchable = 0;
  CREATE VIRTUAL TABLE search USING fts5 (grams, tokenize = 'ascii', detail = none);
  INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
  CREATE INDEX runs_ended ON runs (principal, updated_at, id) WHERE status IN ('completed', 'failed', 'canceled');
  `,
  // A run that a worker has room for is never queued, and so never in here.
  `
  CREATE INDEX runs_queued ON runs (kind, principal, due) WHERE status = 'queued';
  `,
];

/**
 * Migrates a new or older file. One of the next version is opened as it is, since each entry leaves
 * what the version before it does as it is; anything newer is refused (`config_invalid`).
 */
export function migrate(db: Database, path: string): void {
  if (versionOf(db) < migrations.length) {
    db.transaction(() => {
      for (const migration of migrations.slice(versionOf(db))) db.run(migration);
      db.run(`PRAGMA user_version = ${migrations.length}`);
    }).immediate();
  }
  checkVersion(db, path);
}

/** Throws `config_invalid` for a store that is too new for this code. */
export function checkVersion(db: Database, path: string): void {
  if (versionOf(db) > migrations.length + 1) {
    throw new AppError(
      "config_invalid",
      `${path} was written by a newer version (schema ${versionOf(db)}, this one knows ${migrations.length}). Upgrade, or use another file.`,
    );
  }
}

function versionOf(db: Database): number {
  return db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}
