import { expect, test } from "bun:test";
import { withPostgres } from "../../../testing/durable/with-postgres.ts";
import { migratePostgres } from "../postgres-engine.ts";

const kinds = ["a", "b", "c"];

/** Runs of one principal each or of one alone, `count` of them, that are due at this time. */
type Rows = { readonly principal: string; readonly count: number; readonly status: string; readonly due: string };

withPostgres((server) => {
  /** How many rows and entries of indexes ten claims of one run each read, and whose they were. */
  async function claims(rows: readonly Rows[]): Promise<{ readonly read: number; readonly whose: string }> {
    const url = await server().createDatabase();
    await migratePostgres({ url });
    await using sql = new Bun.SQL({ url, max: 1 });
    await sql.unsafe("SET search_path TO manyhands");
    for (const { principal, count, status, due } of rows)
      await sql.unsafe(`WITH added AS (
        INSERT INTO runs (id, kind, status, principal, context_id, input, due, body, created_at, updated_at)
          SELECT gen_random_uuid()::text, substr('abc', 1 + i % 3, 1), '${status}', ${principal}, 'c' || i, 'null',
            ${due}, 1, 0, 0 FROM generate_series(1, ${count}) AS i RETURNING n)
        INSERT INTO heads (run) SELECT n FROM added`);
    await sql.unsafe("INSERT INTO workers (id, lock_key, expires_at) VALUES ('w', 1, now_ms() + 1000000)");
    const read = async () => {
      await sql.unsafe("SELECT pg_stat_force_next_flush()");
      const [row] = await sql.unsafe(`SELECT
        (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables) +
        (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS read`);
      return Number(row.read);
    };
    const before = await read();
    const whose: string[] = [];
    const newest = Object.fromEntries(kinds.map((kind) => [kind, 1]));
    const offer = { kinds, bodies: kinds.map((kind) => `${kind} 1`), newest, missing: {} };
    for (let n = 0; n < 10; n++) {
      const claim = JSON.stringify({ ...offer, owner: "w", limit: 1, served: whose.at(-1) ?? "" });
      const [row] = await sql.unsafe("SELECT claim_fairly($1) AS claimed", [claim]);
      whose.push(...JSON.parse(row.claimed).map(({ principal }: { principal: string }) => principal));
    }
    return { read: (await read()) - before, whose: whose.join(" ") };
  }

  test("what a claim reads grows neither with how many runs wait nor with how many sleep, and it is each one's turn", async () => {
    const few: Rows[] = [
      { principal: "'ann'", count: 30, status: "queued", due: "now_ms() - 9000 + i" },
      { principal: "'zoe'", count: 30, status: "queued", due: "now_ms() - 10" },
    ];
    const asleep = { principal: "'m' || i", count: 3_000, status: "waiting", due: "now_ms() + 3600000" };
    const more = { principal: "'ann'", count: 3_000, status: "queued", due: "now_ms() - 5000 + i" };
    const [small, large] = [await claims(few), await claims([...few, asleep, more])];
    expect(large.whose).toBe("ann zoe ann zoe ann zoe ann zoe ann zoe");
    expect(small.whose).toBe(large.whose);
    expect(large.read).toBeLessThan(2 * small.read);
  }, 60_000);
});
