import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../http/free-port.ts";

/** A PostgreSQL server of one test file. */
export type PostgresProcess = AsyncDisposable & {
  /** Its database as its administrator. */
  readonly url: string;
  /**
   * Makes a database, empty or like another one, which nobody may use then; returns its address.
   */
  createDatabase(like?: string): Promise<string>;
  /** Removes a database, whoever uses it. */
  dropDatabase(url: string): Promise<void>;
  /** The process that the others of the server are children of. */
  pid(): number;
  /**
   * Cuts off whoever uses a database and removes every row that was written since its tables were
   * made. A tenth of what another database costs, whose first connections have to learn its tables.
   */
  emptyDatabase(url: string): Promise<void>;
  /** Starts it, or starts it again after `stop`. */
  start(): Promise<void>;
  /** Ends it as a power cut does: without finishing what it does. */
  stop(): Promise<void>;
};

/** Where the server's programs are; undefined if none are installed. */
export const postgresPrograms = findPrograms();

/** What is said of a suite that is skipped. */
export const noPostgres =
  "No PostgreSQL server is installed (Debian: apt-get install postgresql); its tests are skipped.";

const startedWithinMs = 30_000;

/** Every row of every table but those that say which tables there are; numbers start again. */
const emptyTables = `DO $$
  DECLARE one record;
  BEGIN
    SET LOCAL session_replication_role = replica;
    FOR one IN
      SELECT oid::regclass AS name, relkind AS kind FROM pg_class
      WHERE relkind IN ('r', 'p', 'S') AND NOT relispartition AND relname <> 'migrations'
      AND relnamespace NOT IN (SELECT oid FROM pg_namespace WHERE nspname ~ '^pg_' OR nspname = 'information_schema')
    LOOP
      IF one.kind = 'S' THEN EXECUTE format('ALTER SEQUENCE %s RESTART', one.name);
      ELSE EXECUTE format('DELETE FROM %s', one.name);
      END IF;
    END LOOP;
  END $$`;

/**
 * A database of its own for each test costs half with these. What was committed still outlives
 * the server; it would not outlive the machine.
 */
const cheap = ["full_page_writes=off", "autovacuum=off"];

/**
 * Starts a server on a free port, with its data in a folder of its own. With `syncs` it brings what
 * it commits to the disk, as any that is not a test's does.
 */
export async function startPostgres({ syncs = false } = {}): Promise<PostgresProcess> {
  const programs = postgresPrograms;
  if (programs === undefined) throw new Error(noPostgres);
  const folder = mkdtempSync(join(tmpdir(), "postgres-"));
  const data = join(folder, "data");
  const port = freePort();
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];
  if (user.length > 0) chownSync(folder, await idOf("-u"), await idOf("-g"));
  await makeData(data, [...user, join(programs, "initdb")]);
  let server: Bun.Subprocess | undefined;
  // A new connection for each statement costs the server more than most of the statements.
  let connection: Bun.SQL | undefined;
  const administer = async (statement: string) => {
    connection ??= new Bun.SQL({ url, max: 1 });
    await connection.unsafe(statement);
  };
  // So does a new one for each time that a database is emptied, which has to learn its tables
  // first.
  const emptying = new Map<string, Bun.SQL>();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const self: PostgresProcess = {
    url,
    async createDatabase(like) {
      const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
      const template = like === undefined ? "template0" : nameOf(like);
      if (like !== undefined) await emptying.get(like)?.close({ timeout: 0 });
      emptying.delete(like ?? "");
      await administer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      return url.replace(/[^/]*$/, name);
    },
    dropDatabase: (gone) => administer(`DROP DATABASE ${nameOf(gone)} WITH (FORCE)`),
    pid: () => server?.pid ?? 0,
    async emptyDatabase(used) {
      const own = emptying.get(used) ?? new Bun.SQL({ url: used, max: 1 });
      emptying.set(used, own);
      // Waits up to 30 s for each to be gone.
      await own.unsafe(`SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`);
      await own.unsafe(emptyTables);
    },
    async start() {
      const settings = ["max_connections=200", ...(syncs ? [] : ["fsync=off", ...cheap])];
      const options = ["-p", String(port), "-h", "127.0.0.1", "-k", folder, ...settings.flatMap((one) => ["-c", one])];
      server = Bun.spawn([...user, join(programs, "postgres"), "-D", data, ...options], {
        cwd: folder,
        env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" },
        stdout: "ignore",
        stderr: "ignore",
      });
      await answering(url);
    },
    async stop() {
      await Promise.all([connection, ...emptying.values()].map((open) => open?.close({ timeout: 0 })));
      connection = undefined;
      emptying.clear();
      // Immediate shutdown: no checkpoint; the next start recovers from the log.
      server?.kill("SIGQUIT");
      await server?.exited;
    },
    async [Symbol.asyncDispose]() {
      await self.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await using starting = new AsyncDisposableStack();
  starting.use(self);
  await self.start();
  starting.move();
  return self;
}

/**
 * Makes the data of an empty server, or copies those that another test of this run made: making
 * them takes as much as a dozen tests.
 */
async function makeData(data: string, initdb: readonly string[]): Promise<void> {
  const shared = process.env.TEST_RUN_FOLDER;
  const kept = shared === undefined ? undefined : join(shared, "postgres-data");
  if (kept !== undefined && existsSync(kept)) return await command(["cp", "-a", kept, data]);
  const options = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"];
  await command([...initdb, "-D", data, ...options], join(data, ".."));
  if (kept === undefined) return;
  const copy = `${kept}-${crypto.randomUUID()}`;
  await command(["cp", "-a", data, copy]);
  // Whoever made them at the same time may have been first.
  await rename(copy, kept).catch(() => rm(copy, { recursive: true }));
}

async function command(words: readonly string[], cwd = tmpdir()): Promise<void> {
  const env = { PATH: process.env.PATH, LC_ALL: "C.UTF-8" };
  const child = Bun.spawn([...words], { cwd, env, stdout: "ignore", stderr: "pipe" });
  const said = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`${words.join(" ")} failed: ${said}`);
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

async function answering(url: string): Promise<void> {
  for (const deadline = performance.now() + startedWithinMs; ; await Bun.sleep(50)) {
    const sql = new Bun.SQL({ url, max: 1, connectionTimeout: 1 });
    try {
      await sql.unsafe("SELECT 1");
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    } finally {
      await sql.close({ timeout: 0 }).catch(() => undefined);
    }
  }
}

async function idOf(which: "-u" | "-g"): Promise<number> {
  return Number(await new Response(Bun.spawn(["id", which, "postgres"]).stdout).text());
}

function findPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(debian, version, "bin"));
  const installed = Bun.which("postgres");
  if (installed !== null) folders.push(join(installed, ".."));
  return folders.find((folder) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name))));
}
