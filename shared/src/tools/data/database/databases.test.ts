import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataScene } from "../../../testing/data/data.ts";
import { eventually } from "../../../testing/sandbox/tiers.ts";
import { sqlQuery } from "../sql-query.ts";
import { startDatabase } from "./database-process.ts";
import { createDatabases } from "./databases.ts";

const onLinux = process.platform === "linux";
const endless = "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(9) c";

/** The ids of the processes that work in a folder. Linux only. */
async function processesIn(folder: string): Promise<string[]> {
  const all = onLinux ? (await readdir("/proc")).filter((name) => /^\d+$/.test(name)) : [];
  const folders = await Promise.all(all.map((id) => readlink(`/proc/${id}/cwd`).catch(() => "")));
  return all.filter((_, at) => folders[at] === folder);
}

test("a server that is killed in the middle of a query leaves no database behind", async () => {
  const home = await mkdtemp(join(tmpdir(), "databases-"));
  const server = Bun.spawn([process.execPath, join(import.meta.dir, "../../../testing/data/query-process.ts"), home], {
    stdout: "pipe",
  });
  const { value } = await server.stdout.getReader().read();
  const folder = Buffer.from(value ?? [])
    .toString()
    .trim();
  expect(await processesIn(folder)).toHaveLength(onLinux ? 1 : 0);
  server.kill("SIGKILL");
  await server.exited;
  await eventually("the database is gone", async () => (await processesIn(folder)).length === 0);
  await rm(home, { recursive: true });
});

test("a settings file of this runtime in the workspace is a file like any other", async () => {
  await using scene = await dataScene();
  const marker = join(scene.home, "ran");
  await scene.write("bunfig.toml", 'preload = ["./evil.ts"]');
  await scene.write("evil.ts", `await Bun.write(${JSON.stringify(marker)}, "");`);
  const { rows } = await scene.databases.query(scene.workspace, "SELECT 1 AS one", {
    signal: new AbortController().signal,
  });
  expect(rows).toEqual([{ one: 1 }].map(Object.values));
  expect(await Bun.file(marker).exists()).toBe(false);
});

test("a released conversation has no process, and its next query starts one; close ends all, busy ones too", async () => {
  await using scene = await dataScene();
  const { workspace } = scene;
  const { signal } = new AbortController();
  const databases = createDatabases();
  await databases.query(workspace, "CREATE TABLE kept (n INTEGER)", { signal });
  await sqlQuery({ databases }).release?.(workspace);
  expect(await processesIn(workspace.root)).toEqual([]);
  await expect(databases.query(workspace, "FROM kept", { signal })).rejects.toThrow("kept does not exist");
  const running = databases.query(workspace, endless, { signal }).catch((error) => error);
  await eventually("it is at work", async () => !onLinux || (await processesIn(workspace.root)).length === 1);
  await databases.close();
  expect(await running).toMatchObject({ code: "unavailable" });
  expect(await processesIn(workspace.root)).toEqual([]);
});

test.skipIf(!onLinux)("a database that uses more memory than it may is killed, and the reason is told", async () => {
  await using scene = await dataScene();
  const database = startDatabase(scene.workspace.root, { maxMemoryBytes: 2 ** 20 });
  const asked = database.ask({ sql: endless, timeoutMs: 60_000, maxCharacters: 1_000 });
  await expect(asked).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("its 1 MB of") });
  expect(database.alive()).toBe(false);
});

test("an idle database ends", async () => {
  await using scene = await dataScene();
  const databases = createDatabases({ idleMs: 50 });
  await databases.query(scene.workspace, "SELECT 1", { signal: new AbortController().signal });
  await eventually("the database is gone", async () => (await processesIn(scene.workspace.root)).length === 0);
  await databases.close();
});

test("a database at work is not idle, however short the time is after which it would be", async () => {
  await using scene = await dataScene();
  const databases = createDatabases({ idleMs: 60 });
  const query = (sql: string, timeoutMs: number) =>
    databases.query(scene.workspace, sql, { signal: new AbortController().signal, timeoutMs });
  await query("SELECT 1", 60_000);
  await expect(query(endless, 300)).rejects.toMatchObject({ code: "timeout" });
  await databases.close();
});

test("a text that arrives in many pieces is whole, whatever its letters", async () => {
  await using scene = await dataScene();
  const { signal } = new AbortController();
  const { rows } = await scene.databases.query(scene.workspace, "SELECT repeat('€', 200000) AS t", { signal });
  expect(rows[0]?.[0] === "€".repeat(200_000)).toBe(true);
});

test.skipIf(!onLinux)("a database that no longer answers is killed some seconds after the query's limit", async () => {
  await using scene = await dataScene();
  const { workspace } = scene;
  const query = (timeoutMs: number) =>
    scene.databases.query(workspace, "SELECT 1", { signal: new AbortController().signal, timeoutMs });
  await query(60_000);
  const [id] = await processesIn(workspace.root);
  process.kill(Number(id), "SIGSTOP");
  const began = performance.now();
  await expect(query(100)).rejects.toMatchObject({ code: "timeout" });
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(await processesIn(workspace.root)).toEqual([]);
  expect((await query(60_000)).total).toBe(1);
});

test("a query that is canceled rejects with the signal's own reason, and its process has ended", async () => {
  await using scene = await dataScene();
  const stop = new AbortController();
  const running = scene.databases.query(scene.workspace, endless, { signal: stop.signal }).catch((error) => error);
  await eventually("it is at work", async () => !onLinux || (await processesIn(scene.workspace.root)).length === 1);
  stop.abort("enough");
  expect(await running).toBe("enough");
  await eventually("it has ended", async () => (await processesIn(scene.workspace.root)).length === 0);
  const never = scene.databases.query(scene.workspace, "SELECT 1", { signal: stop.signal });
  expect(await never.catch((error) => error)).toBe("enough");
  expect(await processesIn(scene.workspace.root)).toEqual([]);
});

test("what a query was a part of may end later without taking the database's tables with it", async () => {
  await using scene = await dataScene();
  const stop = new AbortController();
  const query = (sql: string, { signal } = new AbortController()) =>
    scene.databases.query(scene.workspace, sql, { signal });
  await query("CREATE TABLE kept AS SELECT 1 AS one", stop);
  await query("FROM nothing", stop).catch(() => undefined);
  stop.abort();
  expect((await query("FROM kept")).rows).toEqual([[1]]);
});

test("queries of one conversation run one after the other: one that waits outlives the end of the one before it", async () => {
  await using scene = await dataScene();
  const stop = new AbortController();
  const query = (sql: string, { signal } = new AbortController()) =>
    scene.databases.query(scene.workspace, sql, { signal });
  await query("SELECT 1");
  const first = query(endless, stop).catch((error) => error);
  const second = query("SELECT 2");
  await Bun.sleep(0);
  stop.abort("enough");
  expect([await first, (await second).rows]).toEqual(["enough", [[2]]]);
});

test("a query canceled while its files are looked at is not begun", async () => {
  await using scene = await dataScene();
  const stop = new AbortController();
  let checks = 0;
  const check = stop.signal.throwIfAborted.bind(stop.signal);
  // Canceled right after the first look at the signal.
  stop.signal.throwIfAborted = () => {
    check();
    if (checks++ === 0) stop.abort("enough");
  };
  const query = (sql: string, { signal } = new AbortController()) =>
    scene.databases.query(scene.workspace, sql, { signal });
  expect(await query("CREATE TABLE made AS SELECT 1 AS one", stop).catch((error) => error)).toBe("enough");
  await expect(query("FROM made")).rejects.toThrow("made does not exist");
});

test("a query that is stopped at its limit leaves the database and its tables as they are", async () => {
  await using scene = await dataScene();
  const query = (sql: string, timeoutMs = 60_000) =>
    scene.databases.query(scene.workspace, sql, { signal: new AbortController().signal, timeoutMs });
  await query("CREATE TABLE kept AS SELECT 1 AS one");
  await expect(query(endless, 200)).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining("0.2 s"),
  });
  expect((await query("FROM kept")).rows).toEqual([[1]]);
  // A limit ends with its statement, and does not stop the one after it.
  let limit = 50;
  const inTime = async () =>
    query("SELECT 1", limit).catch((error) => {
      if (error.code !== "timeout") throw error;
    });
  while ((await inTime()) === undefined) limit *= 2;
  await expect(query(endless, limit * 4)).rejects.toMatchObject({ code: "timeout" });
});

test("a file that takes too long to be read is given up at the limit, and the tables stay", async () => {
  await using scene = await dataScene();
  const query = (sql: string, timeoutMs = 60_000) =>
    scene.databases.query(scene.workspace, sql, { signal: new AbortController().signal, timeoutMs });
  await query("CREATE TABLE kept AS SELECT 1 AS one");
  const file = new Database(join(scene.workspace.root, "large.db"));
  file.run(
    "CREATE TABLE t AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 300000) SELECT i FROM r",
  );
  file.close();
  // Of several statements the last one with a result is told.
  await query("CREATE TABLE gone AS SELECT 1 AS n");
  expect((await query("SELECT 5 AS n; DROP TABLE gone")).rows).toEqual([[5]]);
  await expect(query("FROM 'large.db'", 20)).rejects.toMatchObject({ code: "timeout" });
  expect((await query("FROM kept")).rows).toEqual([[1]]);
});

test("rows are kept up to so many characters; all further ones are only counted", async () => {
  await using scene = await dataScene();
  const { rows, total } = await scene.databases.query(scene.workspace, "SELECT 'x' || i FROM range(10000) t(i)", {
    signal: new AbortController().signal,
    maxCharacters: 100,
  });
  const characters = rows.slice(0, -1).reduce((sum, row) => sum + JSON.stringify(row).length, 0);
  expect([total, characters > 50, characters <= 100]).toEqual([10_000, true, true]);
});
