import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { scratch } from "../../../testing/durable/scratch.ts";
import { openConnection, type StoreConnection } from "./connection.ts";
import { FileTrust } from "./file-trust.ts";
import { isBusy } from "./storage-error.ts";

const identity = { host: "h", pid: 1, processStart: "" };

/** The text that `work` runs on any database, of those that set how one works. */
function pragmas(work: () => void): string[] {
  const run = spyOn(Database.prototype, "run");
  work();
  const set = run.mock.calls.flatMap(([text]) => (text.startsWith("PRAGMA") ? [text.slice("PRAGMA ".length)] : []));
  run.mockRestore();
  return set;
}

test("a store has its log, which is synced around checkpoints, kept short, and overwritten where it was", () => {
  using store = scratch();
  const set = pragmas(() => openConnection(store.path).close());
  expect(set.filter((text) => !text.startsWith("user_version"))).toEqual([
    ...["busy_timeout = 200", "journal_mode = WAL", "synchronous = NORMAL"],
    ...["wal_autocheckpoint = 0", "secure_delete = ON"],
  ]);
});

test("a store is its owner's alone, with its log", () => {
  using store = scratch();
  const connection = openConnection(store.path);
  for (const suffix of ["", "-wal", "-shm"]) expect(statSync(`${store.path}${suffix}`).mode & 0o077).toBe(0);
  connection.close();
});

test("who writes holds the store from the beginning; another waits for that a fifth of a second and is told so", () => {
  using store = scratch();
  const [one, other] = [openConnection(store.path), openConnection(store.path)];
  one.begin();
  const since = performance.now();
  let told: unknown;
  try {
    other.begin();
  } catch (error) {
    told = error;
  }
  expect([isBusy(told), performance.now() - since > 150]).toEqual([true, true]);
  one.tables.workers.insert("w", identity);
  // What others do meanwhile changes nothing for those who read.
  expect(other.tables.workers.all()).toEqual([]);
  one.commit();
  other.begin();
  expect(other.tables.workers.beat("w")).toBe(true);
  other.commit();
  for (const connection of [one, other]) connection.close();
});

test("what is written goes from the log into the file when that is asked for, and a probe writes as much as a large step", () => {
  using store = scratch();
  const connection = openConnection(store.path);
  connection.begin();
  connection.tables.workers.insert("KEPTWORKER", identity);
  connection.commit();
  expect(readFileSync(store.path).includes("KEPTWORKER")).toBe(false);
  connection.checkpoint();
  expect(readFileSync(store.path).includes("KEPTWORKER")).toBe(true);
  expect([connection.emptyLog(), statSync(`${store.path}-wal`).size]).toEqual([true, 0]);
  connection.probe();
  expect(statSync(`${store.path}-wal`).size).toBeGreaterThan(65_536);
  connection.close();
});

test("a log that is kept counts for nothing to the next connection, unless another had the store open", async () => {
  using store = scratch();
  const trust = new FileTrust(store.path);
  const open = () => openConnection(store.path);
  const write = (connection: StoreConnection, name: string) => {
    connection.begin();
    connection.tables.workers.insert(name, identity);
    connection.commit();
  };
  // Reads what was there at first, so that only that can be brought in.
  const reader = new Database(store.path);
  let connection = open();
  write(connection, "one");
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM workers").get();
  write(connection, "two");
  connection.checkpoint();
  const { pages, inFile } = connection.logged();
  expect([inFile > 0, inFile < pages, trust.needsRewriting(connection)]).toEqual([true, true, false]);
  reader.run("COMMIT");
  trust.lose(connection);

  connection.close({ keepLog: true });
  connection = open();
  expect([connection.logged(), trust.needsRewriting(connection)]).toEqual([{ pages, inFile }, true]);
  reader.close();
  connection.close({ keepLog: true });
  connection = open();
  expect([connection.logged(), trust.needsRewriting(connection)]).toEqual([{ pages, inFile: 0 }, false]);

  // Another process has brought it in and begun another log, of which nothing is in the file.
  expect(connection.emptyLog()).toBe(true);
  write(connection, "three");
  expect([connection.logged().inFile, trust.needsRewriting(connection)]).toEqual([0, true]);
  await trust.rewrite();
  using whole = new Database(store.path);
  const all = whole.query<{ page_count: number }, []>("PRAGMA page_count").get()?.page_count ?? Infinity;
  expect([connection.logged().pages > all, trust.needsRewriting(connection)]).toEqual([true, false]);
  trust.lose(connection);
  expect(trust.needsRewriting(connection)).toBe(true);
  await trust.rewrite();
  trust.bringInAll(connection);
  expect([trust.isLost, trust.needsRewriting(connection)]).toEqual([false, false]);
  connection.close();
});

test("a log that cannot be brought to the disk is said", async () => {
  using store = scratch();
  const connection = openConnection(store.path, () => Promise.reject(new Error("EIO")));
  await expect(connection.sync()).rejects.toThrow("EIO");
  connection.close();
});
