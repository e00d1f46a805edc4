import { Database } from "bun:sqlite";
import { type ServerAnswer, type ServerRequest, serverRequest } from "./server-protocol.ts";

/**
 * Started by `createDatabaseServers` for one statement: reads the request, asks the server, replies
 * with a line of JSON and ends. Whatever the server sends stays in this process until it is cut.
 */

type Cell = ServerAnswer["rows"][number][number];

type Rows = {
  readonly names: readonly string[];
  readonly values: Iterable<readonly unknown[]>;
  readonly changed: number;
};

const connectSeconds = 10;
const reading = /^\s*(?:select|with|values|table|show|describe|desc|explain)\b/i;
const fetching = /^\s*(?:select|with|values|table)\b/i;
/** What opens or writes another file, or changes how this one works; comments may come first. */
const ofOtherFiles = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(?:attach|detach|pragma|vacuum)\b/i;

const request = serverRequest.parse(JSON.parse(await Bun.stdin.text()));
try {
  const isFile = request.url.startsWith("sqlite:");
  const result = isFile ? askFile(request) : await askServer(request);
  process.stdout.write(`${JSON.stringify({ ok: true, ...result })}\n`);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stdout.write(`${JSON.stringify({ ok: false, message })}\n`);
}

async function askServer(asked: ServerRequest): Promise<ServerAnswer> {
  await using server = new Bun.SQL(asked.url, { max: 1, connectionTimeout: connectSeconds });
  return cut(asked, await (/^postgres/.test(asked.url) ? askPostgres(server, asked) : askMysql(server, asked)));
}

function askPostgres(server: Bun.SQL, { sql, write, timeoutMs, rows }: ServerRequest): Promise<Rows> {
  return server.begin(write ? "READ WRITE" : "READ ONLY", async (transaction) => {
    await transaction.unsafe(`SET LOCAL statement_timeout = ${timeoutMs}`);
    if (write || !fetching.test(sql)) return single(transaction, sql);
    await single(transaction, `DECLARE answer NO SCROLL CURSOR FOR ${sql}`);
    return single(transaction, `FETCH ${rows + 1} FROM answer`);
  });
}

/**
 * A statement that changes tables ends the transaction it is in, and would not be held by one that
 * only reads: so every transaction of the session only reads, and what does not begin as a query is
 * refused.
 */
async function askMysql(server: Bun.SQL, { sql, write, timeoutMs, rows }: ServerRequest): Promise<Rows> {
  if (!write && !reading.test(sql)) throw new Error("Only a query is allowed here.");
  await using session = await server.reserve();
  const [version] = await session.unsafe("SELECT version() AS name");
  const isMaria = /mariadb/i.test(String(version?.name));
  await session.unsafe(
    isMaria ? `SET SESSION max_statement_time = ${timeoutMs / 1000}` : `SET SESSION max_execution_time = ${timeoutMs}`,
  );
  await session.unsafe(`SET SESSION sql_select_limit = ${rows + 1}`);
  if (!write) await session.unsafe("SET SESSION TRANSACTION READ ONLY");
  return await single(session, sql);
}

/**
 * Runs one statement, prepared: a server refuses several in one text, so that none ends the
 * transaction that only reads. `unsafe` without values would let it take several.
 */
async function single(connection: Bun.SQL, text: string): Promise<Rows> {
  const strings = Object.defineProperty([text], "raw", { value: [text] }) as unknown as TemplateStringsArray;
  const statement = connection(strings);
  const values: unknown[][] & { columns?: { name: string }[]; affectedRows?: number; count?: number } =
    await statement.values();
  const names = (values.columns ?? []).map(({ name }) => name);
  return { names, values, changed: names.length > 0 ? 0 : ((values.affectedRows || values.count) ?? 0) };
}

function askFile(asked: ServerRequest): ServerAnswer {
  const { url, sql, write } = asked;
  using file = new Database(
    decodeURIComponent(new URL(url).pathname),
    // Integers beyond 2^53 stay what they are.
    { ...(write ? { readwrite: true } : { readonly: true }), safeIntegers: true },
  );
  file.run("PRAGMA trusted_schema = OFF");
  using statement = file.prepare(sql);
  // Without columns it is no query: ATTACH, which would open another file, or a change.
  if (statement.columnNames.length === 0) {
    if (!write || ofOtherFiles.test(sql)) throw new Error("Only a query is allowed here.");
    return cut(asked, { names: [], values: [], changed: statement.run().changes });
  }
  const names = statement.columnNames;
  return cut(asked, { names, values: statement.values() as unknown[][], changed: 0 });
}

/** The rows of the answer as JSON, as many as were asked for and fit. */
function cut({ rows: most, maxCharacters }: ServerRequest, { names, values, changed }: Rows): ServerAnswer {
  const rows: ServerAnswer["rows"] = [];
  const types = names.map(() => "");
  let characters = 0;
  for (const value of values) {
    if (rows.length === most || characters > maxCharacters) return told(true);
    const row = value.map(jsonOf);
    for (const [at, one] of value.entries()) types[at] ||= typeOf(one);
    characters += JSON.stringify(row).length;
    rows.push(row);
  }
  return told(false);

  function told(more: boolean): ServerAnswer {
    return { columns: names.map((name, at) => ({ name, type: types[at] || "unknown" })), rows, more, changed };
  }
}

function jsonOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  return typeof value === "object" ? (JSON.parse(JSON.stringify(value)) as Cell) : (value as Cell);
}

/** What a column holds, by its first value. */
function typeOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return "time";
  if (value instanceof Uint8Array) return "bytes";
  if (typeof value === "object") return "json";
  return typeof value === "bigint" ? "number" : typeof value === "string" ? "text" : typeof value;
}
