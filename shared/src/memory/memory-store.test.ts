import { Database } from "bun:sqlite";
import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testMemoryStore } from "../testing/memory/store-contract.ts";
import { createMemoryStore } from "./memory-store.ts";
import { sqliteRows } from "./sqlite-rows.ts";
import { bytesOf, vectorOf } from "./vector-bytes.ts";

const folder = mkdtempSync(join(tmpdir(), "manyhands-memory-"));
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
function opened(home = join(folder, String(count++))) {
  const rows = sqliteRows(join(home, "memory.db"));
  return { ...rows, home, [Symbol.asyncDispose]: rows.close };
}

testMemoryStore(async () => opened());

async function bytesIn(home: string): Promise<string> {
  const files = await readdir(home);
  return (await Promise.all(files.map((name) => readFile(join(home, name), "latin1")))).join("\n");
}

test("what is removed or replaced is in no file any more, neither its words nor its index", async () => {
  await using rows = opened();
  const store = createMemoryStore(rows, { entries: 300, entryCharacters: 500 });
  const many = Array.from({ length: 50 }, (_, n) => `Quokka${n} wombat${n} lives in enclosure ${n}.`);
  const added = [];
  for (const text of many) added.push(await store.add("ann", { text, kind: "fact", by: "person" }));
  expect(await bytesIn(rows.home)).toContain("Quokka7 ");
  for (const { id } of added.slice(0, 5)) await store.remove("ann", id);
  await store.edit("ann", added[7]?.id ?? "", { text: "Nobody lives there.", by: "person" });
  const left = await bytesIn(rows.home);
  for (const gone of ["Quokka0 ", "quokka0 ", "Quokka7 ", "quokka7 ", "wombat7 "]) expect(left).not.toContain(gone);
  expect(await store.search("ann", "quokka7", 5)).toEqual([]);
  expect((await store.search("ann", "quokka42", 5)).map(({ text }) => text)).toEqual([many[42] ?? ""]);
  await store.clear("ann");
  expect((await bytesIn(rows.home)).toLowerCase()).not.toMatch(/quokka|wombat/);
});

test("the file is its owner's, outlives a restart, and two processes see the same", async () => {
  await using rows = opened();
  await using other = opened(rows.home);
  const bounds = { entries: 10, entryCharacters: 500 };
  const [one, two] = [createMemoryStore(rows, bounds), createMemoryStore(other, bounds)];
  const { id } = await one.add("ann", { text: "Tea, not coffee.", kind: "preference", by: "person" });
  expect(await two.list("ann")).toMatchObject([{ id, text: "Tea, not coffee." }]);
  await two.remove("ann", id);
  expect(await one.list("ann")).toEqual([]);
  expect((await stat(join(rows.home, "memory.db"))).mode & 0o077).toBe(0);
  await one.add("ann", { text: "Green tea.", kind: "preference", by: "person" });
  await using again = opened(rows.home);
  expect(await createMemoryStore(again, bounds).list("ann")).toMatchObject([{ text: "Green tea." }]);
});

test("a file of the next release is opened, one of a later is refused", async () => {
  const { home, close } = opened();
  await close();
  const path = join(home, "memory.db");
  const written = (version: number) => {
    using db = new Database(path);
    db.run(`PRAGMA user_version = ${version}`);
  };
  written(2);
  await sqliteRows(path).close();
  written(3);
  expect(() => sqliteRows(path)).toThrow(expect.objectContaining({ code: "config_invalid" }));
});

test("a file has no log beside it, waits five seconds for another process, and is made anew after each removal", async () => {
  const run = spyOn(Database.prototype, "run");
  const said = () =>
    run.mock.calls.splice(0).flatMap(([text]) => text.match(/^(?:VACUUM|PRAGMA (?!user_version).*)$/) ?? []);
  await using rows = opened();
  expect(said()).toEqual(["PRAGMA busy_timeout = 5000", "PRAGMA journal_mode = TRUNCATE", "PRAGMA secure_delete = ON"]);
  const store = createMemoryStore(rows, { entries: 9, entryCharacters: 99 });
  const { id } = await store.add("ann", { text: "Tea.", kind: "fact", by: "person" });
  expect(said()).toEqual([]);
  await store.edit("ann", id, { text: "Milk.", by: "person" });
  await store.remove("ann", id);
  expect(said()).toEqual(["VACUUM", "VACUUM"]);
  run.mockRestore();
});

test("the vector of an entry is its own bytes, wherever they lie", () => {
  const all = Float32Array.of(1, 2, 3, 4);
  const bytes = bytesOf(all.subarray(1, 3));
  expect([...vectorOf(bytes)]).toEqual([2, 3]);
  const apart = new Uint8Array(9);
  apart.set(bytes, 1);
  expect([...vectorOf(apart.subarray(1))]).toEqual([2, 3]);
});
