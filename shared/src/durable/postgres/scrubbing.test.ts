import { expect, test } from "bun:test";
import { noPostgres, postgresPrograms, startPostgres } from "../../testing/durable/postgres-process.ts";
import { wordsInDatabase } from "../../testing/durable/words-in-database.ts";
import { request } from "../conformance/cases.ts";
import { createPostgresEngine, migratePostgres } from "./postgres-engine.ts";

if (postgresPrograms === undefined) test.skip(noPostgres, () => undefined);
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
    await engine.delete({ runIds: ids, thorough: true });
    expect(await engine.scrub()).toBe(true);
    expect(await wordsInDatabase(sql, "SECRETWORD")).toBe(0);
    expect(await wordsInDatabase(sql, "PLAINWORD")).toBeGreaterThan(30);
    await engine.close({ graceMs: 0 });
  }, 120_000);
