import { afterAll, afterEach, describe, expect, test } from "bun:test";
import type { MemoryEntry } from "../core/memory.ts";
import { silentLog } from "../core/runs/engine.ts";
import { createMemoryStore } from "../memory/memory-store.ts";
import { noPostgres, postgresPrograms, startPostgres } from "../testing/durable/postgres-process.ts";
import { until } from "../testing/durable/until.ts";
import { wordsInDatabase } from "../testing/durable/words-in-database.ts";
import { testMemoryStore } from "../testing/memory/store-contract.ts";
import { openSharedRows } from "./shared-rows.ts";

const entry: MemoryEntry = {
  ...{ id: "e", kind: "fact", text: "", sources: [], by: "person" },
  ...{ isPublic: false, createdAt: 1, changedAt: 1 },
};

if (postgresPrograms === undefined) console.warn(noPostgres);

describe.skipIf(postgresPrograms === undefined)("a memory in a database", async () => {
  const server = postgresPrograms === undefined ? undefined : await startPostgres();
  const url = (await server?.createDatabase()) ?? "";
  afterAll(() => server?.[Symbol.asyncDispose]());
  afterEach(() => server?.emptyDatabase(url));
  const open = async () => {
    const shared = await openSharedRows({ url, schema: "manyhands", log: silentLog });
    return { ...shared.memory, [Symbol.asyncDispose]: shared.close };
  };

  testMemoryStore(open);

  test("words are matched in the principal's entries alone, the best first, and of equals the one that changed last", async () => {
    await using rows = await open();
    const insert = (principal: string, id: string, terms: string[], changedAt: number) =>
      rows.insert(principal, { ...entry, id, text: id, changedAt }, terms, 2 + changedAt);
    await insert("bob", "bobs", ["shop", "nine"], 1);
    await insert("ann", "old", ["shop", "ten"], 1);
    await insert("ann", "new", ["shop", "six"], 2);
    await insert("ann", "best", ["shop", "nine"], 1);
    expect(await rows.match("ann", ["shop", "nine"], 9)).toEqual(["best", "new", "old"]);
    expect(await rows.match("ann", ["shop", "nine"], 1)).toEqual(["best"]);
    expect((await rows.all("ann")).map(({ id, createdAt }) => [id, createdAt])).toEqual([
      ["new", 1],
      ["best", 1],
      ["old", 1],
    ]);
  });

  test("of entries that several machines add at once only as many are kept as may be", async () => {
    await using one = await open();
    await using other = await open();
    const added = Array.from({ length: 8 }, (_, n) =>
      (n % 2 === 0 ? one : other).insert("ann", { ...entry, id: `${n}` }, ["word"], 3),
    );
    expect((await Promise.all(added)).filter(Boolean)).toHaveLength(3);
    // One adds at a time, or two of them would count the same.
    await using sql = new Bun.SQL({ url, max: 1 });
    let adding: Promise<boolean> | undefined;
    await sql.begin(async (held) => {
      await held`SELECT pg_advisory_xact_lock(hashtextextended('ann', 8))`;
      adding = one.insert("ann", { ...entry, id: "late" }, ["word"], 4);
      const waits = async () => (await held`SELECT 1 FROM pg_locks WHERE NOT granted`).length > 0;
      expect(await Promise.race([adding.then(() => "added"), until(waits).then(() => "waits")])).toBe("waits");
    });
    expect(await adding).toBe(true);
  });

  test("another principal's entry is not replaced, and of what was replaced or removed no word is left in the table's files", async () => {
    await using rows = await open();
    await using sql = new Bun.SQL({ url, max: 1 });
    const words = async (word: string) => await wordsInDatabase(sql, word);
    await rows.insert("ann", { ...entry, id: "a", text: "FIRSTWORD" }, ["firstword"], 9);
    expect(await rows.update("bob", { ...entry, id: "a", text: "BOBSWORD" }, ["bobsword"])).toBe(false);
    expect((await rows.all("ann")).map(({ text }) => text)).toEqual(["FIRSTWORD"]);
    expect(await words("FIRSTWORD")).toBeGreaterThan(0);
    expect(await rows.update("ann", { ...entry, id: "a", text: "SECONDWORD" }, ["secondword"])).toBe(true);
    expect([await words("FIRSTWORD"), (await words("SECONDWORD")) > 0]).toEqual([0, true]);
    expect(await rows.remove("ann", ["a"])).toBe(1);
    expect(await words("SECONDWORD")).toBe(0);
  });

  test("what one machine is taught another knows, until it is removed", async () => {
    await using one = await open();
    await using other = await open();
    const [here, there] = [one, other].map((rows) => createMemoryStore(rows, { entries: 9, entryCharacters: 99 }));
    const entry = await here?.add("ann", { text: "The shop opens at nine.", kind: "fact", by: "agent" });
    expect(await there?.search("ann", "when does the shop open", 5)).toEqual(entry === undefined ? [] : [entry]);
    await there?.remove("ann", entry?.id ?? "");
    expect(await here?.list("ann")).toEqual([]);
  });
});
