import { realpath, stat } from "node:fs/promises";
import { posix, resolve, sep } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { FileRead } from "../database/database-protocol.ts";
import { namedFiles } from "../database/named-files.ts";
import { notesOfFiles } from "../database/notes-of-files.ts";
import { isDelimited, isPlainText, quoted } from "../database/table-of.ts";
import { type DelimitedFile, lookAtDelimited } from "./delimited-file.ts";
import { type Ask, readText } from "./sniff.ts";

/** A statement that reads the tables in the files it names, wherever in a file they are. */
export type TablesStatement = {
  readonly sql: string;
  readonly notes: readonly string[];
  readonly files: readonly FileRead[];
  /** A text of the database with the files' names instead of the views'. */
  readonly named: (text: string) => string;
};

/** The CSV, TSV and other text files below a folder, as the tables they hold. */
export interface DelimitedTables {
  /**
   * Looks at each such file that the statement reads by its bare name, once until it changes. What
   * the database would not find by itself it reads through a view. `goOn` stops it by throwing.
   */
  find(sql: string, goOn: () => void): Promise<TablesStatement>;
  /** Whether a file is read through a view. */
  needsView(name: string, goOn: () => void): Promise<boolean>;
}

/**
 * `looks` is another connection than `connection`, which may be in a transaction. Names are those
 * in the first of the folders.
 */
export function createDelimitedTables(
  { connection, looks }: { readonly connection: DuckDBConnection; readonly looks: DuckDBConnection },
  folders: readonly [string, ...string[]],
): DelimitedTables {
  const known = new Map<string, { readonly version: string; readonly file: DelimitedFile | undefined }>();
  const schemas = new Map<string, string>();
  const ask: Ask = async (sql) => (await looks.runAndReadAll(sql)).getRowObjectsJson();

  async function fileOf(name: string, path: string, goOn: () => void): Promise<DelimitedFile | undefined> {
    const { mtimeMs, size } = await stat(path);
    const version = `${mtimeMs} ${size}`;
    const before = known.get(name);
    if (before?.version === version) return before.file;
    const file = await lookAtDelimited(ask, quoted(name, "'")).catch(() => undefined);
    goOn();
    known.set(name, { version, file });
    return file;
  }

  /**
   * A view is called as the database calls the table of a file: by it statements name columns. A
   * transaction that has begun before sees none, and must write none if it has written elsewhere.
   */
  async function viewOf(name: string, options: readonly string[]): Promise<string> {
    const schema = schemas.get(name) ?? `file ${schemas.size}`;
    schemas.set(name, schema);
    const table = posix.basename(name).split(".")[0] ?? "";
    const view = `memory.${quoted(schema, '"')}.${quoted(table, '"')}`;
    const source = `FROM ${readText([quoted(name, "'"), ...options])}`;
    await looks.run(`CREATE SCHEMA IF NOT EXISTS memory.${quoted(schema, '"')}`);
    await looks.run(`CREATE OR REPLACE VIEW ${view} AS ${source}`);
    const stored = `SELECT sql FROM duckdb_views() WHERE database_name = 'memory' AND schema_name = ${quoted(schema, "'")}`;
    const seen = await connection.runAndReadAll(stored).catch(() => undefined);
    const isSeen = seen?.getRows()[0]?.[0] === (await looks.runAndReadAll(stored)).getRows()[0]?.[0];
    return isSeen ? view : `(${source})`;
  }

  async function tableOf(name: string, goOn: () => void) {
    const path = await fileBelow(folders, name);
    if (path === undefined) return undefined;
    const file = await fileOf(name, path, goOn);
    return { file, isAsFound: (file?.options ?? []).length === 0 && !isPlainText.test(name) };
  }

  return {
    async find(sql, goOn) {
      const found = new Map<string, { readonly file: DelimitedFile | undefined; readonly view: string | undefined }>();
      const read = namedFiles(sql).filter(({ text, isTable }) => isTable && isDelimited.test(text));
      for (const name of new Set(read.map(({ text }) => text))) {
        const table = await tableOf(name, goOn);
        if (table === undefined) continue;
        const { file, isAsFound } = table;
        found.set(name, { file, view: isAsFound ? undefined : await viewOf(name, file?.options ?? []) });
      }
      let changed = sql;
      for (const { text, start, end } of read.toSorted((one, other) => other.start - one.start))
        changed = changed.slice(0, start) + (found.get(text)?.view ?? sql.slice(start, end)) + changed.slice(end);
      const all = [...found];
      return {
        sql: changed,
        notes: notesOfFiles(
          all.flatMap(([name, { file }]) =>
            (file?.notes ?? []).map((note) => [name, (called: string) => `${called}: ${note}.`] as const),
          ),
        ),
        files: all.flatMap(([, { file }]) =>
          file === undefined ? [] : { dates: file.dates, thousands: file.thousands },
        ),
        named: (text) =>
          all.reduce((rest, [name, { view }]) => (view ? rest.replaceAll(view, quoted(name, "'")) : rest), text),
      };
    },
    needsView: async (name, goOn) => isDelimited.test(name) && (await tableOf(name, goOn))?.isAsFound === false,
  };
}

async function fileBelow(folders: readonly [string, ...string[]], name: string): Promise<string | undefined> {
  const path = await realpath(resolve(folders[0], name)).catch(() => undefined);
  if (path === undefined || !folders.some((folder) => path.startsWith(folder + sep))) return undefined;
  return (await stat(path)).isFile() ? path : undefined;
}
