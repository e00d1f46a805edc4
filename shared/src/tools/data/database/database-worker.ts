import { createInterface } from "node:readline";
import { type DuckDBConnection, type DuckDBResult, JsonDuckDBValueConverter, ResultReturnType } from "@duckdb/node-api";
import { createDelimitedTables } from "../delimited/delimited-tables.ts";
import { createForeignTables } from "../foreign/foreign-tables.ts";
import {
  type Column,
  changedByStatement,
  type DatabaseReply,
  type DatabaseRequest,
  databaseRequest,
  type FileRead,
  outOfMemory,
} from "./database-protocol.ts";
import { createDecodedFiles, isFormerCopy } from "./decoded-files.ts";
import { expandGlobs } from "./expand-globs.ts";
import { openLocked } from "./open-locked.ts";
import { quoted } from "./table-of.ts";

/**
 * Started by `createDatabases` with a folder of its own and a conversation's workspace, which it
 * only reads: replies with one line of JSON to each that it reads, and ends with its input.
 */

const maxMemoryBytes = 2 * 2 ** 30;

// Memory that the database's own limit does not count (such as the text of a line) must not bring
// down the machine.
setInterval(() => {
  if (process.memoryUsage.rss() > maxMemoryBytes) process.exit(outOfMemory);
}, 100).unref();

const [, , staging = "/", folder = "/"] = process.argv;
// Not started there: this runtime must not read its settings from a workspace.
process.chdir(folder);
const { connection, looks, isAsOpened } = await openLocked(folder, staging);
const foreign = createForeignTables(connection, { folder, staging });
const decoded = createDecodedFiles({ folder, staging });
const delimited = createDelimitedTables({ connection, looks }, [folder, staging]);
const lines = createInterface({ input: process.stdin });
// The server is gone, possibly in the middle of a query.
lines.once("close", () => process.exit(0));
for await (const line of lines) {
  const reply = await answer(connection, databaseRequest.parse(JSON.parse(line)));
  if (!(await isAsOpened())) process.exit(changedByStatement);
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

async function answer(connection: DuckDBConnection, request: DatabaseRequest): Promise<DatabaseReply> {
  const begun = performance.now();
  let timeout = false;
  let named = (text: string) => text;
  const timer = setTimeout(() => {
    timeout = true;
    connection.interrupt();
    looks.interrupt();
  }, request.timeoutMs);
  try {
    const goOn = () => {
      if (timeout || performance.now() - begun > request.timeoutMs) throw new Error("interrupted");
    };
    const notes = await foreign.load(request.sql, goOn);
    const globs = await expandGlobs(request.sql, {
      list: filesOf,
      isOurs: isFormerCopy,
      needsCopy: (name) => decoded.needsCopy(name, goOn),
      needsMore: (name) => delimited.needsView(name, goOn),
    });
    const copies = await decoded.decode(globs.sql, goOn);
    named = copies.named;
    const { sql, files, ...tables } = await delimited.find(copies.sql, goOn);
    named = (text) => copies.named(tables.named(text));
    notes.push(...globs.notes, ...copies.notes, ...tables.notes.map(named));
    const result = await query(connection, { ...request, sql }, () => timeout);
    // An expression without a name is called by its text.
    const columns = result.columns.map(({ name, type }) => ({ name: named(name), type }));
    return { ...result, columns, notes, files: files.map(called(named)) };
  } catch (error) {
    const late = timeout || performance.now() - begun > request.timeoutMs;
    return { ok: false, message: named(error instanceof Error ? error.message : String(error)), timeout: late };
  } finally {
    clearTimeout(timer);
  }
}

/** The files that a pattern stands for, none where the database lists none. */
async function filesOf(pattern: string): Promise<string[]> {
  const listed = await looks.runAndReadAll(`FROM glob(${quoted(pattern, "'")})`).catch(() => undefined);
  return (listed?.getRows() ?? []).map(([name]) => String(name).replace(/^\.\//, ""));
}

/** The file as the statement named it. */
function called(named: (text: string) => string): (file: FileRead) => FileRead {
  return ({ dates, thousands: { columns, table } }) => ({ dates, thousands: { columns, table: named(table) } });
}

type AnsweredRows = Extract<DatabaseReply, { ok: true }>;

async function query(
  connection: DuckDBConnection,
  { sql, maxCharacters }: DatabaseRequest,
  timedOut: () => boolean,
): Promise<Omit<AnsweredRows, "notes" | "files">> {
  const { result, unshown } = await run(connection, sql);
  const types = result.columnTypes();
  const columns: Column[] = result.columnNames().map((name, index) => ({ name, type: String(types[index]) }));
  const rows: AnsweredRows["rows"] = [];
  let [total, characters] = [0, 0];
  for await (const chunk of result) {
    if (timedOut()) throw new Error("interrupted");
    total += chunk.rowCount;
    if (characters > maxCharacters) continue;
    for (const row of chunk.convertRows(JsonDuckDBValueConverter)) {
      characters += JSON.stringify(row).length;
      rows.push(row);
      if (characters > maxCharacters) break;
    }
  }
  return { ok: true, columns, rows, total, ...insteadOfRows(result), ...(unshown > 0 && { unshown }) };
}

function insteadOfRows({ returnType }: DuckDBResult): Pick<AnsweredRows, "instead"> {
  if (returnType === ResultReturnType.CHANGED_ROWS) return { instead: "count" };
  return returnType === ResultReturnType.NOTHING ? { instead: "nothing" } : {};
}

/**
 * The result of the SQL: with several statements, that of the last with rows of data, or else of
 * the last which has one; `unshown` others had rows of data. A PIVOT also counts as several, and
 * its last one only cleans up.
 */
async function run(connection: DuckDBConnection, sql: string) {
  const statements = await connection.extractStatements(sql);
  // Preparing a statement scans each CSV file twice, and streaming would do so too; this result
  // counts towards the memory limit.
  if (statements.count <= 1) return { result: await connection.run(sql), unshown: 0 };
  let shown: DuckDBResult | undefined;
  let withRows = 0;
  for (let index = 0; index < statements.count; index++) {
    const result = await (await statements.prepare(index)).run();
    const hasRows = result.returnType === ResultReturnType.QUERY_RESULT;
    const saysMore = withRows === 0 && (result.returnType !== ResultReturnType.NOTHING || shown === undefined);
    if (hasRows || saysMore) shown = result;
    if (hasRows) withRows++;
  }
  return { result: shown ?? (await connection.run(sql)), unshown: Math.max(0, withRows - 1) };
}
