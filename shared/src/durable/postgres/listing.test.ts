import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Engine, ListFilter } from "../../core/runs/engine.ts";
import { withPostgres } from "../../testing/durable/with-postgres.ts";
import { request } from "../conformance/cases.ts";
import { createPostgresEngine, migratePostgres } from "./postgres-engine.ts";

withPostgres((server) => {
  let engine: Engine;
  let sql: Bun.SQL;
  beforeAll(async () => {
    await migratePostgres({ url: server().url });
    engine = createPostgresEngine({ url: server().url, connections: 2 });
    sql = new Bun.SQL({ url: server().url, max: 1, connection: { search_path: "manyhands" } });
  }, 60_000);
  afterAll(async () => {
    await engine.close({ graceMs: 0 });
    await sql.close({ timeout: 0 });
  }, 60_000);

  test("runs that changed in the same millisecond are each on one page, and where a page ends makes no difference", async () => {
    for (let n = 0; n < 7; n++) await engine.start({ ...request, input: n, canceled: n % 2 === 0 });
    // Those accepted last changed first, some at the same time.
    await sql`UPDATE runs SET updated_at = 1000 + (7 - n) / 3`;
    const listed = async (filter: Omit<ListFilter, "limit">, limit: number) => {
      const ids: string[] = [];
      for (let cursor: string | undefined, isOver = false; !isOver; isOver = cursor === undefined) {
        const page = await engine.list({ ...filter, limit, ...(cursor !== undefined && { cursor }) });
        ids.push(...page.runs.map(({ id }) => id));
        expect([page.total, page.runs.length <= limit]).toEqual([7, true]);
        cursor = page.nextCursor;
      }
      return ids;
    };
    const [{ newest }] = await sql`SELECT json_agg(id ORDER BY updated_at DESC, id DESC) AS newest FROM runs`;
    for (const filter of [{}, { principal: "ann" }, { contextId: "c1", principal: "ann" }, { updatedSince: 1000 }])
      for (const limit of [1, 2, 7, 9]) expect(await listed(filter, limit)).toEqual(newest);
    expect((await engine.list({ updatedSince: 1001, limit: 9 })).total).toBe(
      (await sql`SELECT 1 FROM runs WHERE updated_at >= 1001`).length,
    );
    const { runIds, next } = await engine.expired({ endedBy: 9_999, acceptedBy: Number.MAX_SAFE_INTEGER, limit: 2 });
    // Others of their conversation have not ended.
    expect([runIds, next]).toEqual([[], undefined]);
    await sql`UPDATE runs SET context_id = id`;
    const expired: string[] = [];
    for (let after: string | undefined, isOver = false; !isOver; isOver = after === undefined) {
      const filter = { endedBy: 9_999, acceptedBy: Number.MAX_SAFE_INTEGER, limit: 1 };
      const page = await engine.expired({ ...filter, ...(after !== undefined && { after }) });
      expired.push(...page.runIds);
      after = page.next;
    }
    const [{ oldest }] =
      await sql`SELECT json_agg(id ORDER BY updated_at, id) AS oldest FROM runs WHERE status = 'canceled'`;
    expect(expired).toEqual(oldest);
  }, 60_000);

  test("words are looked for among all runs where the index would name too many, and no run is left out", async () => {
    await sql`TRUNCATE runs CASCADE`;
    await sql`INSERT INTO runs (id, kind, status, principal, context_id, input, created_at, updated_at)
      SELECT gen_random_uuid()::text, 'test', 'queued', 'ann', 'c', 'null', 0, i FROM generate_series(1, 5010) AS i`;
    await sql`INSERT INTO heads (run) SELECT n FROM runs`;
    const { total } = await engine.list({ principal: "ann", words: ["anything"], limit: 1 });
    expect(total).toBe(5_010);
    await sql`UPDATE runs SET searchable = true, status = 'canceled' WHERE updated_at > 10`;
    await sql`INSERT INTO run_grams SELECT n, '{1}' FROM runs WHERE searchable`;
    expect((await engine.list({ principal: "ann", words: ["anything"], limit: 1 })).total).toBe(10);
  }, 60_000);
});
