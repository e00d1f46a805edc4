import { expect, test } from "bun:test";
import { silentLog } from "../../core/runs/engine.ts";
import { until } from "../../testing/durable/until.ts";
import { withPostgres } from "../../testing/durable/with-postgres.ts";
import { Database, stateOf } from "./database.ts";

withPostgres((server) => {
  /** A schema with a function that refuses with a SQLSTATE until it was called often enough. */
  async function open(connections = 1) {
    const said: string[] = [];
    const log = {
      error: (_: object, message: string) => void said.push(`error: ${message}`),
      warn: (_: object, message: string) => void said.push(`warn: ${message}`),
    };
    const schema = `s${crypto.randomUUID().replaceAll("-", "")}`;
    const database = new Database({ url: server().url, schema, connections, log });
    await database.query(`CREATE SCHEMA ${schema}`);
    await database.query("CREATE SEQUENCE calls");
    await database.query("CREATE TABLE written (n int)");
    await database.query(`CREATE FUNCTION refuse(code text, times int) RETURNS bigint LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('calls') <= times THEN RAISE EXCEPTION USING ERRCODE = code, MESSAGE = 'refused'; END IF;
        RETURN setval('calls', 1, false);
      END $$`);
    const refuse = async (state: string, times: number, options?: { keep: boolean }) => {
      await database.query("SELECT setval('calls', 1, false)");
      await database.query("SELECT refuse($1, $2)", [state, times], options);
    };
    return { database, said, refuse, [Symbol.asyncDispose]: () => database.close() };
  }

  test("no statement is compiled, whatever the server does for others: that takes longer than any of them", async () => {
    await using sql = new Bun.SQL({ url: server().url, max: 1 });
    await sql.unsafe("ALTER DATABASE postgres SET jit = on");
    const database = new Database({ url: server().url, schema: "public", connections: 1, log: silentLog });
    const [row] = await database.query<{ jit: string }>("SHOW jit");
    expect(row?.jit).toBe("off");
    await database.close();
  }, 60_000);

  test("what another transaction hindered is repeated, and what the server refuses otherwise is thrown as it is", async () => {
    await using at = await open();
    for (const state of ["40001", "40P01"]) await at.refuse(state, 2);
    await at.refuse("57014", 2, { keep: true });
    for (const state of ["22023", "42P01", "MH001"])
      expect(stateOf(await at.refuse(state, 1, { keep: true }).catch((error) => error))).toBe(state);
    expect([at.database.health(), at.said]).toEqual([{ ok: true }, []]);
  }, 60_000);

  test("what no text in it can hold is the fault of whoever asks for it", async () => {
    await using at = await open();
    const asked = at.database.query("SELECT $1::text", ["a\0b"]);
    await expect(asked).rejects.toMatchObject({ code: "invalid_input", message: expect.stringContaining("U+0000") });
    const within = at.database.transaction((run) => run("SELECT $1::text", ["a\0b"]));
    await expect(within).rejects.toMatchObject({ code: "invalid_input" });
    expect([at.database.health(), at.said]).toEqual([{ ok: true }, []]);
  }, 60_000);

  test("a server that stops, is full, broken or only reads is a store that is away: said once, until it works again", async () => {
    await using at = await open();
    for (const state of ["08006", "53300", "57P01", "58030", "25006"])
      await expect(at.refuse(state, 1)).rejects.toMatchObject({ code: "storage_unavailable" });
    // Between them each one worked again.
    const each = ["error: The run store is unavailable.", "warn: The run store works again."];
    expect(at.said).toEqual(
      Array.from({ length: 5 }, () => each)
        .flat()
        .slice(0, 9),
    );
    const { port } = new URL(server().url);
    const where = `PostgreSQL at 127.0.0.1:${port}/postgres`;
    expect(at.database.health()).toEqual({ ok: false, reason: `The run store is unavailable: ${where}: refused.` });
    at.said.splice(0);
    await at.refuse("53300", 2, { keep: true });
    expect(at.database.health()).toEqual({ ok: true });
    expect(at.said).toEqual([each[1], ...each].map(String));
  }, 60_000);

  test("statements of a transaction are written together or not at all, and its own errors are thrown as they are", async () => {
    await using at = await open();
    const written = async () => (await at.database.query<{ n: number }>("SELECT n FROM written")).map(({ n }) => n);
    const own = new Error("No.");
    const failing = (then: (run: (text: string) => Promise<unknown>) => unknown) =>
      at.database
        .transaction(async (run) => {
          await run("INSERT INTO written VALUES ($1)", [1]);
          await then(run);
        })
        .catch((error) => error);
    expect(await failing(() => Promise.reject(own))).toBe(own);
    expect(stateOf(await failing((run) => run("SELECT refuse('22023', 100)")))).toBe("22023");
    for (const state of ["40001", "57P01"])
      expect(await failing((run) => run(`SELECT refuse('${state}', 100)`))).toMatchObject({
        code: "storage_unavailable",
      });
    expect(await written()).toEqual([]);
    expect(await failing(() => undefined)).toBeUndefined();
    expect(await written()).toEqual([1]);
  }, 60_000);

  test("one process at a time does what is done alone, and one that fails at it keeps neither lock nor connection", async () => {
    await using first = await open();
    await using second = await open();
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const holding = first.database.alone(7, async (run) => {
      await run("SELECT 1");
      order.push("first begins");
      await gate.promise;
      const waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory'";
      await until(async () => (await run(waits)).length === 1 || order.length > 1, 5_000);
      order.push("first ends");
      throw new Error("No.");
    });
    const failed = holding.catch((error: Error) => error.message);
    await until(() => order.length === 1);
    const waiting = second.database.alone(7, async () => void order.push("second"));
    gate.resolve();
    expect((await Promise.all([failed, waiting]))[0]).toBe("No.");
    expect(order).toEqual(["first begins", "first ends", "second"]);
    await first.database.alone(7, async () => void order.push("again"));
    expect(order).toHaveLength(4);
    expect(await first.database.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  }, 60_000);

  test("a statement that has to be kept waits for a server that was stopped, and ends when this process closes", async () => {
    await using at = await open();
    await server().stop();
    await expect(at.database.query("SELECT 1")).rejects.toMatchObject({ code: "storage_unavailable" });
    await expect(at.database.alone(7, async () => null)).rejects.toMatchObject({ code: "storage_unavailable" });
    await expect(at.database.transaction(async () => null)).rejects.toMatchObject({ code: "storage_unavailable" });
    const kept = at.database.query("SELECT 1 AS one", [], { keep: true });
    const closing = new Database({ url: server().url, schema: "public", connections: 1, log: silentLog });
    const ended = closing.query("SELECT 1", [], { keep: true }).catch((error) => error);
    await until(() => !closing.health().ok);
    await closing.close();
    expect(await ended).toMatchObject({ code: "unavailable" });
    await server().start();
    expect(await kept).toEqual([{ one: 1 }]);
    expect(at.database.health()).toEqual({ ok: true });
    await at.database.close();
    for (const call of [() => at.database.query("SELECT 1"), () => at.database.transaction(async () => null)])
      await expect(call()).rejects.toMatchObject({ code: "unavailable" });
  }, 60_000);
});
