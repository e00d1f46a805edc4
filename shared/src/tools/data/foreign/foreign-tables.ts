import { copyFile, mkdir, realpath, rm, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { messageOf, unlessMissing } from "../../../core/errors.ts";
import { type ForeignName, foreignNames } from "./foreign-name.ts";
import { type ForeignTable, maxFileBytes } from "./foreign-table.ts";
import { isSqlite, readSqliteTable, sqliteTables } from "./read-sqlite.ts";
import type { sheetsOf } from "./read-workbook.ts";
import { markedAs, storeTable } from "./store-table.ts";

/** The part of a name that stands for the list of parts: `book.xlsx/*`. */
const everything = "*";

/** The workbooks and SQLite files that statements name, as tables of a database. */
export interface ForeignTables {
  /**
   * Loads each sheet and SQLite table that a statement names into a table, if it is new or has
   * changed since, and returns what a reader of them has to know. Throws with a sentence for the
   * model; `goOn` stops it by throwing.
   */
  load(sql: string, goOn: () => void): Promise<string[]>;
}

/** Reads files below `folder` only, after following symlinks; `staging` is for what it writes. */
export function createForeignTables(
  connection: DuckDBConnection,
  { folder, staging }: { readonly folder: string; readonly staging: string },
): ForeignTables {
  const loaded = new Map<string, { readonly version: string; readonly notes: readonly string[] }>();
  return {
    async load(sql, goOn) {
      const notes = new Set<string>();
      for (const named of foreignNames(sql)) {
        const path = await pathOf(folder, named);
        if (path === undefined) continue;
        const { mtimeMs, size } = await stat(path);
        const version = `${path} ${mtimeMs} ${size} ${named.part}`;
        const key = named.name.toLowerCase();
        const known = loaded.get(key);
        // A statement may have dropped or replaced the table, or its transaction been rolled back.
        if (known?.version !== version || (await markedAs(connection, named.name)) !== version) {
          const table = await read(path, size, named, { goOn, staging });
          await storeTable(connection, named.name, table, version);
          loaded.set(key, { version, notes: (table.notes ?? []).map((note) => `${named.name}: ${note}`) });
        }
        for (const note of loaded.get(key)?.notes ?? []) notes.add(note);
      }
      return [...notes];
    },
  };
}

/** The file's path; undefined when it is not one that we read, which leaves it to DuckDB. */
async function pathOf(folder: string, { file, kind }: ForeignName): Promise<string | undefined> {
  const path = await realpath(resolve(folder, file)).catch(() => undefined);
  if (path === undefined || !path.startsWith(folder + sep)) return undefined;
  if (!(await stat(path)).isFile()) return undefined;
  if (kind === "workbook" || (await isSqlite(path))) return path;
  // A file that ends in `.db` may be anything.
  if (/\.sqlite3?$/i.test(file)) throw new Error(`${file} could not be read: it is no SQLite file.`);
  return undefined;
}

async function read(
  path: string,
  size: number,
  named: ForeignName,
  { goOn, staging }: { readonly goOn: () => void; readonly staging: string },
): Promise<ForeignTable> {
  if (size > maxFileBytes) throw new Error(`${named.file} is larger than ${maxFileBytes / 2 ** 20} MB.`);
  try {
    if (named.kind === "workbook") return await readWorkbook(await Bun.file(path).bytes(), named, goOn);
    await using settled = await withoutLog(path, staging);
    const all = sqliteTables(settled.path);
    return named.part === everything
      ? listed(all, [])
      : readSqliteTable(settled.path, chosen(named, all, "table"), goOn);
  } catch (error) {
    const reason = messageOf(error);
    throw new Error(`${named.file} could not be read: ${reason}`);
  }
}

async function readWorkbook(content: Uint8Array, named: ForeignName, goOn: () => void): Promise<ForeignTable> {
  // A third of what a database's process would load.
  const { readSheet, sheetsOf } = await import("./read-workbook.ts");
  const sheets = await sheetsOf(content);
  const all = sheets.map(({ name }) => name);
  return named.part === everything ? listed(all, sheets) : await readSheet(content, chosen(named, all, "sheet"), goOn);
}

/**
 * An SQLite file that can be read where nothing is written: beside one with a log SQLite writes an
 * index of it, so that both are copied into `staging` for as long as they are read.
 */
async function withoutLog(path: string, staging: string): Promise<{ readonly path: string } & AsyncDisposable> {
  const folder = join(staging, "sqlite");
  const log = await stat(`${path}-wal`).catch(unlessMissing);
  if (log === undefined) return { path, async [Symbol.asyncDispose]() {} };
  if (log.size > maxFileBytes) throw new Error(`its log is larger than ${maxFileBytes / 2 ** 20} MB.`);
  await mkdir(folder, { recursive: true });
  const copy = join(folder, "copy.db");
  for (const part of ["-wal", ""]) await copyFile(`${path}${part}`, `${copy}${part}`);
  return { path: copy, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** The parts of a file; of a workbook with hidden sheets also which those are. */
function listed(all: readonly string[], sheets: Awaited<ReturnType<typeof sheetsOf>>): ForeignTable {
  if (!sheets.some(({ hidden }) => hidden)) return { columns: ["name"], rows: all.map((name) => [name]) };
  return { columns: ["name", "hidden"], rows: sheets.map(({ name, hidden }) => [name, hidden]) };
}

/** The requested sheet or table: the one named, else the first sheet or the only table. */
function chosen({ file, part }: ForeignName, all: readonly string[], word: "sheet" | "table"): string {
  const [first] = all;
  const found =
    part === undefined && (word === "sheet" || all.length === 1)
      ? first
      : all.find((name) => name.toLowerCase() === part?.toLowerCase());
  if (found !== undefined) return found;
  if (first === undefined) throw new Error(`it has no ${word}.`);
  const names = all.map((name) => `'${file}/${name}'`);
  throw new Error(`it has no single ${word} of that name. Name one of ${names.join(", ")}.`);
}
