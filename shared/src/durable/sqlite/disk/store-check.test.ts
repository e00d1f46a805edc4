import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { scratch } from "../../../testing/durable/scratch.ts";
import { ownIdentity } from "../process-identity.ts";
import { migrate } from "../tables/schema.ts";
import { isSound, workersOf } from "./store-check.ts";

test("the workers of a store are the living processes of this machine alone", () => {
  using store = scratch();
  using db = new Database(store.path, { create: true });
  migrate(db, store.path);
  const own = ownIdentity();
  const add = (id: string, host: string, pid: number, start: string) =>
    db.run("INSERT INTO workers (id, host, pid, process_start) VALUES (?, ?, ?, ?)", [id, host, pid, start]);
  expect(workersOf(store.path)).toBe(0);
  add("elsewhere", `${own.host} other`, own.pid, own.processStart);
  add("gone", own.host, own.pid, "an earlier start");
  expect(workersOf(store.path)).toBe(0);
  add("here", own.host, own.pid, own.processStart);
  add("here too", own.host, own.pid, own.processStart);
  expect(workersOf(store.path)).toBe(2);
});

test("a file without the tables of runs, one that is no database and one with damage are no sound store", () => {
  using store = scratch();
  using db = new Database(store.path, { create: true });
  db.run("CREATE TABLE other (n)");
  expect([isSound(store.path), workersOf(store.path)]).toEqual([false, 0]);
  migrate(db, store.path);
  expect(isSound(store.path)).toBe(true);
  db.close();
  // Reading it fails nowhere: the header counts unused pages that there are not.
  const bytes = readFileSync(store.path);
  bytes.writeUInt32BE(7, 36);
  writeFileSync(store.path, bytes);
  expect(isSound(store.path)).toBe(false);
  writeFileSync(store.path, "no database at all, but long enough to look like the head of one".repeat(100));
  expect([isSound(store.path), workersOf(store.path)]).toEqual([false, 0]);
  expect([isSound(`${store.folder}/nowhere/runs.db`), workersOf(`${store.folder}/nowhere/runs.db`)]).toEqual([
    false,
    0,
  ]);
});
