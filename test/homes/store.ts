import { Database } from "bun:sqlite";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ownIdentity } from "manyhands/internal/durable/sqlite/process-identity";

/**
 * The placeholders in a stored home and their values: addresses and folders, which differ from
 * system to system, ids, and repeated texts.
 */
export type Names = Readonly<Record<`{${string}}`, string>>;

/** A text of this machine in its stored form. */
export function stored(text: string, names: Names): string {
  return Object.entries(names).reduce((rest, [name, meant]) => rest.replaceAll(meant, name), text);
}

/** A stored text in this machine's form. */
export function here(text: string, names: Names): string {
  return Object.entries(names).reduceRight((rest, [name, meant]) => rest.replaceAll(name, () => meant), text);
}

const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

/**
 * Short names for the ids in a text and for long repeated texts: each flow's journal has the cards
 * of all agents.
 */
export function shortNames(text: string): Names {
  const ids = [...new Set(text.match(uuid))].map((id, n) => [`{id${n}}`, id] as const);
  const short = stored(text, Object.fromEntries(ids));
  const counts = new Map<string, number>();
  for (const piece of short.split(/(?=\{"name":")/)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  const often = [...counts].filter(([piece, count]) => piece.length > 100 && count > 2);
  const long = new Set([...short.matchAll(/(\w+ )\1{99,}/g)].map(([repeated]) => repeated));
  return Object.fromEntries([
    ...ids,
    ...[...long, ...often.map(([piece]) => piece)].map((piece, n) => [`{text${n}}`, piece] as const),
  ]);
}

/** A process id that never exists: it is larger than Linux assigns. */
const nobody = 2 ** 22 + 1;

/**
 * The database as SQL text. Its workers are processes of `{host}` that are gone, and its clock was
 * at `{then}` when they were killed: a minute ago, whenever the home is opened.
 */
export function dumpStore(path: string): string {
  using db = new Database(path);
  db.run(`UPDATE workers SET host = '{host}', pid = ${nobody}, process_start = '0'`);
  db.run("UPDATE clock SET boot = '{boot}'");
  const { user_version } = db.query<{ user_version: number }, []>("PRAGMA user_version").get() ?? { user_version: 0 };
  const schema = db.query<{ name: string; type: string; sql: string }, []>(
    "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL ORDER BY type DESC, rowid",
  );
  const lines = schema.all().flatMap(({ name, type, sql }) => {
    const rows = type === "table" ? rowsOf(db, name) : [];
    const made = `${sql.replaceAll(/\s+/g, " ")};`;
    return rows.length === 0 ? [made] : [made, `INSERT INTO ${name} VALUES`, `${rows.join(",\n")};`];
  });
  const text = [...lines, `PRAGMA user_version = ${user_version};`, ""].join("\n");
  return text.replace(/(\(1,'\{boot\}',[\d.]+),[\d.]+/, "$1,{then}");
}

function rowsOf(db: Database, table: string): string[] {
  const columns = db.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all();
  const values = columns.map(({ name }) => `quote(${name})`).join(" || ',' || ");
  const { wr } = db.query<{ wr: number }, []>(`PRAGMA table_list(${table})`).get() ?? { wr: 0 };
  // A table without row ids is in the order of its primary key.
  const order = wr === 1 ? "" : " ORDER BY rowid";
  const rows = db.query<{ row: string }, []>(`SELECT ${values} AS row FROM ${table}${order}`).all();
  return rows.map(({ row }) => `(${row})`);
}

/** Restores the database from such a text. */
export function restoreStore(text: string, path: string, names: Names): void {
  using db = new Database(path, { create: true });
  const machine = { "{host}": ownIdentity().host, "{boot}": "before", "{then}": String(Date.now() - 60_000) } as const;
  db.transaction(() => db.run(here(text, { ...names, ...machine })))();
}

/**
 * Prevents runs from continuing and workers from being declared dead until `setGoing`: the home
 * stays unchanged while its servers show it.
 */
export function holdStill(path: string): void {
  using db = new Database(path);
  db.run("PRAGMA busy_timeout = 5000");
  db.run(`CREATE TRIGGER still_runs BEFORE UPDATE OF status, owner ON runs
    WHEN NEW.status IN ('running', 'queued') BEGIN SELECT RAISE(IGNORE); END`);
  db.run("CREATE TRIGGER still_workers BEFORE DELETE ON workers BEGIN SELECT RAISE(IGNORE); END");
}

/** Lets the runs of a held home continue. */
export function setGoing(path: string): void {
  using db = new Database(path);
  db.run("PRAGMA busy_timeout = 5000");
  db.run("DROP TRIGGER still_runs");
  db.run("DROP TRIGGER still_workers");
}

/** Files that a server recreates, or that say nothing about runs. */
const left = /^(runs\.db.*|logs(\/.*)?|.*key.*|.*\.lock|mcp\.json)$/;

/** The files of a home beside the database, by their paths; bytes as base64. */
export async function dumpFiles(home: string, names: Names): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(home.length + 1);
    if (entry.isFile() && !left.test(name)) found[name] = fileText(await readFile(path), names);
  }
  return Object.fromEntries(Object.entries(found).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const binary = "base64:";

function fileText(bytes: Buffer, names: Names): string {
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? stored(text, names) : binary + bytes.toString("base64");
}

/** Writes them into a home. */
export async function restoreFiles(files: Readonly<Record<string, string>>, home: string, names: Names) {
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const bytes = text.startsWith(binary) ? Buffer.from(text.slice(binary.length), "base64") : here(text, names);
    await writeFile(path, bytes);
    await chmod(path, 0o600);
  }
}
