import { expect, test } from "bun:test";
import { noPostgres, postgresPrograms, startPostgres } from "../../testing/durable/postgres-process.ts";
import { skipped } from "../../testing/durable/skipped.ts";
import { wordsInDatabase } from "../../testing/durable/words-in-database.ts";
import { request } from "../conformance/cases.ts";
import type { Database } from "./database.ts";
import { createPostgresEngine, migratePostgres } from "./postgres-engine.ts";
import { createScrubber } from "./scrubbing.ts";

if (postgresPrograms === undefined) skipped(noPostgres);
else
  test("no word of a deleted run is left in the files of the database's tables and indexes", async () => {
    await using server = await startPostgres();
    const url = await server.createDatabase();
    await migratePostgres({ url });
    const engine = createPostgresEngine({ url, connections: 4 });
    await using sql = new Bun.SQL({ url, max: 1 });
    const say = async (word: string, n: number) => {
      const events = [10, 300, 3000].map((times, m) => ({
        ...{ type: "message-received", messageId: `${word}-${n}-${m}` },
        parts: [{ type: "text", text: `${word} ${n}`.repeat(times) }],
      }));
      const dedupe = { key: JSON.stringify(["kind", "ann", `${word} ${n}`]), hash: word };
      const { run } = await engine.start({
        ...{ ...request, input: word, contextId: `${word} ${n}`, canceled: true, dedupe, events },
      });
      return run.id;
    };
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) {
      ids.push(await say("SECRETWORD", n));
      await say("PLAINWORD", n);
    }
    while ((await engine.indexWords()) > 0);
    expect(await wordsInDatabase(sql, "SECRETWORD")).toBeGreaterThan(30);
    // For any other deletion no table is written anew, for which all would have to wait.
    const fileOf = async () => (await sql`SELECT pg_relation_filenode('manyhands.runs') AS file`)[0].file;
    const file = await fileOf();
    await engine.delete({ runIds: ids.splice(0, 1) });
    expect([await engine.scrub(), await fileOf()]).toEqual([true, file]);
    await engine.delete({ runIds: ids, thorough: true });
    expect(await engine.scrub()).toBe(true);
    expect(await wordsInDatabase(sql, "SECRETWORD")).toBe(0);
    expect(await wordsInDatabase(sql, "PLAINWORD")).toBeGreaterThan(30);
    await engine.close({ graceMs: 0 });
  }, 120_000);

/** A scrubber of tables of this size, of which the first `failures` statements fail. */
function scrubberForTest({ bytes = 1, failures = 0 } = {}) {
  const done: string[] = [];
  const warned: unknown[] = [];
  let left = failures;
  const database = {
    async query(text: string) {
      if (text.startsWith("SELECT")) return [{ size: `${bytes}` }];
      if (left-- > 0) throw new Error("It is locked.");
      done.push(text.replaceAll(/ +/g, " "));
      return [];
    },
  } as unknown as Database;
  const log = { warn: (fields: object) => void warned.push(fields), error: () => undefined };
  const scrubber = createScrubber(database, log);
  /** What one scrubbing answers, and how many tables it cleaned and wrote anew. */
  const scrub = async (options?: { evenLarge: boolean }) => {
    const isClean = await scrubber.scrub(options);
    const all = done.splice(0);
    return [isClean, all.length, all.filter((text) => text.includes("FULL")).length];
  };
  return { scrubber, scrub, warned };
}

test("tables are written anew once after each thorough deletion, and otherwise only cleaned", async () => {
  const { scrubber, scrub } = scrubberForTest();
  expect(await scrub()).toEqual([true, 4, 0]);
  scrubber.need();
  expect([await scrub(), await scrub()]).toEqual([
    [true, 10, 10],
    [true, 4, 0],
  ]);
});

test("what could not be written anew is told of and still to do, and a scrubbing that nobody needs leaves nothing", async () => {
  const { scrubber, scrub, warned } = scrubberForTest({ failures: 2 });
  expect([await scrub(), warned.length]).toEqual([[false, 0, 0], 1]);
  scrubber.need();
  expect([await scrub(), warned.length]).toEqual([[false, 0, 0], 2]);
  expect(await scrub()).toEqual([true, 10, 10]);
  const unneeded = scrubberForTest({ failures: 1 });
  expect([await unneeded.scrub(), await unneeded.scrub()]).toEqual([
    [false, 0, 0],
    [true, 4, 0],
  ]);
});

test("tables that are large are written anew only when asked, and until then something is left", async () => {
  const large = scrubberForTest({ bytes: 64 * 1024 ** 2 + 1 });
  expect(await large.scrub()).toEqual([true, 4, 0]);
  large.scrubber.need();
  for (const _ of [1, 2]) expect(await large.scrub()).toEqual([false, 4, 0]);
  expect(await large.scrub({ evenLarge: true })).toEqual([true, 10, 10]);
  expect(await large.scrub()).toEqual([true, 4, 0]);
  expect(await large.scrub({ evenLarge: true })).toEqual([true, 10, 10]);
});
