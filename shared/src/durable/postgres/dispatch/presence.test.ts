import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { type Engine, silentLog } from "../../../core/runs/engine.ts";
import type { Run } from "../../../core/runs/run.ts";
import { until as happened } from "../../../testing/durable/until.ts";
import { withPostgres } from "../../../testing/durable/with-postgres.ts";
import { body, request, start, until } from "../../conformance/cases.ts";
import { Database } from "../database.ts";
import { createPostgresEngine, migratePostgres } from "../postgres-engine.ts";
import { claimedRun } from "./claimed-run.ts";

/** No test waits so long: what is replaced earlier is not replaced because of its lease. */
const leaseMs = 60_000;
const serversMs = 60_000;

withPostgres((server) =>
  describe("workers on PostgreSQL", () => {
    let sql: SQL;
    let url: string;
    const opened: Engine[] = [];
    beforeAll(async () => {
      url = await server().createDatabase();
      await migratePostgres({ url });
    }, serversMs);
    beforeEach(() => {
      sql = new SQL({ url, max: 1, connection: { search_path: "manyhands" } });
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((engine) => engine.close({ graceMs: 0 })));
      await sql.close({ timeout: 0 });
      await server().emptyDatabase(url);
    });

    /** `stopMs`: what ignores that it is aborted keeps its place. */
    function engine(execute?: (run: Run) => Promise<string>, stopMs = 30_000, pollMs = 2_000): Engine {
      const made = createPostgresEngine({ url, leaseMs, stopMs, pollMs, connections: 4 });
      opened.push(made);
      if (execute !== undefined) made.work([body(execute)], { concurrency: 1 });
      return made;
    }

    /** Ends the connections that hold locks, by which workers show that they are there. */
    const cutSessions = () =>
      sql.unsafe(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      );

    test("one whose session is cut is replaced at once, and what it does then is not recorded", async () => {
      const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
      let begun = 0;
      const hold = (run: Run) => run.step("hold", () => gates[begun++]?.promise ?? Promise.resolve("once too often"));
      const first = engine(hold, 5_000);
      const { id } = await start(first);
      await happened(() => begun === 1);
      const second = engine(hold);
      await happened(async () => (await sql.unsafe("SELECT 1 FROM workers")).length === 2);
      await cutSessions();
      await happened(() => begun === 2);
      gates[0]?.resolve("by the first");
      gates[1]?.resolve("by the second");
      expect((await until(second, id, "completed")).output).toBe("by the second");
      const items = await Array.fromAsync(second.follow(id, { signal: AbortSignal.timeout(10_000) }));
      expect(items.map(({ event }) => event.type)).toEqual(["run-ended"]);
    }, 60_000);

    test("one whose lease goes on keeps its runs as long as its session does, and loses them with its lease", async () => {
      const store = engine();
      const { id } = await start(store);
      // What hangs: nothing of it moves, but its connection is there.
      await using session = new SQL({ url, max: 1, connection: { search_path: "manyhands" } });
      await session.unsafe("SELECT pg_advisory_lock(42)");
      await session.unsafe("INSERT INTO workers VALUES ('hangs', 42, now_ms() + 60000)");
      await session.unsafe("SELECT give_run(n, 'hangs') FROM runs");
      let begun = 0;
      const worker = engine(async (run) => run.step("work", async () => `began ${++begun}`));
      // It looks twice a second at least.
      const others = await start(worker);
      await until(worker, others.id, "completed");
      await Bun.sleep(1_200);
      expect((await worker.get(id))?.status).toBe("running");
      expect(begun).toBe(1);
      await session.unsafe("UPDATE workers SET expires_at = now_ms() - 1 WHERE id = 'hangs'");
      expect((await until(worker, id, "completed")).output).toBe("began 2");
    }, 60_000);

    test.each([1, 8])(
      "with room for %d claim what another had in hand as soon as it lets go, and are told nothing",
      async (concurrency) => {
        const { kind, principal, contextId } = request;
        await using other = new SQL({ url, max: 1, connection: { search_path: "manyhands" } });
        await other.unsafe(
          "SELECT pg_advisory_lock(hashtextextended(json_build_array($1::text, $2::text, $3::text)::text, 6))",
          [kind, principal, contextId],
        );
        const store = engine();
        const worker = engine(async () => "done", undefined, 60_000);
        worker.work([body(async () => "done")], { concurrency });
        const held = await start(store);
        const { run } = await store.start({ ...request, principal: "bob" });
        await until(worker, run.id, "completed");
        await Bun.sleep(300);
        expect((await worker.get(held.id))?.status).toBe("queued");
        await other.unsafe("SELECT pg_advisory_unlock_all()");
        await until(worker, held.id, "completed");
      },
      60_000,
    );

    test.each([1, 2])(
      "of which there are %d keep what they have under way when the database's server starts again",
      async (count) => {
        const { promise: done, resolve } = Promise.withResolvers<string>();
        let begun = 0;
        const effect = () => {
          begun++;
          return done;
        };
        const act = (run: Run) => run.step("act", effect, { effect: "once" });
        const first = engine(act);
        const { id } = await start(first);
        await happened(() => begun === 1);
        while (opened.length < count) engine(act);
        await happened(async () => (await sql.unsafe("SELECT 1 FROM workers")).length === count);
        await server().stop();
        await server().start();
        await using again = new SQL({ url, max: 1, connection: { search_path: "manyhands" } });
        const locks = "SELECT 1 FROM pg_locks JOIN workers ON lock_key = (classid::bigint << 32) + objid::bigint";
        await happened(async () => (await again.unsafe(locks)).length === count);
        resolve("acted");
        expect((await until(first, id, "completed")).output).toBe("acted");
        expect([begun, (await again.unsafe("SELECT epoch FROM heads"))[0]?.epoch]).toEqual([1, "1"]);
      },
      60_000,
    );

    test("one that cannot come back within its lease gives up what it has under way", async () => {
      const aborted = Promise.withResolvers<void>();
      let begun = 0;
      const act = async ({ signal }: { readonly signal: AbortSignal }) => {
        begun++;
        signal.addEventListener("abort", () => aborted.resolve());
        return await new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      };
      const worker = createPostgresEngine({ url, leaseMs: 1_000, stopMs: 100, connections: 4 });
      opened.push(worker);
      worker.work([body((run) => run.step("act", act, { effect: "once" }))]);
      const { id } = await start(worker);
      await happened(() => begun === 1);
      await server().stop();
      await aborted.promise;
      await server().start();
      expect((await until(worker, id, "failed")).error?.code).toBe("interrupted");
      expect(begun).toBe(1);
    }, 60_000);

    test("one that ended while the database's server was away is replaced soon, and not only when its lease is over", async () => {
      const store = engine();
      const { id } = await start(store);
      await sql.unsafe("INSERT INTO workers VALUES ('ended', 42, now_ms() + 60000)");
      await sql.unsafe("SELECT give_run(n, 'ended') FROM runs");
      const worker = engine(async (run) => run.step("work", async () => "done by another"));
      await server().stop();
      await server().start();
      expect((await until(worker, id, "completed")).output).toBe("done by another");
    }, 60_000);

    test("one that renews its lease after another saw it over keeps its runs", async () => {
      const store = engine();
      const { id } = await start(store);
      await sql.unsafe("INSERT INTO workers VALUES ('renewed', 42, now_ms() + 60000)");
      await sql.unsafe("SELECT give_run(n, 'renewed') FROM runs");
      const bury = async () => {
        const [{ runs }] = await sql.unsafe("SELECT bury_worker('renewed', true) AS runs");
        return [runs, (await store.get(id))?.status];
      };
      expect(await bury()).toEqual([null, "running"]);
      await sql.unsafe("UPDATE workers SET expires_at = now_ms() - 1 WHERE id = 'renewed'");
      expect(await bury()).toEqual(["1", "queued"]);
    }, 60_000);

    test("a step that cannot read the runs because their store is away reads them again", async () => {
      const away = createPostgresEngine({ url: "postgres://postgres@127.0.0.1:1/gone" });
      opened.push(away);
      const reader = engine();
      let tries = 0;
      const read = async () => `${(await (++tries === 1 ? away : reader).list({ limit: 1 })).total} in all`;
      const worker = engine((run) => run.step("read", read, { effect: "pure" }));
      const { id } = await start(worker);
      expect((await until(worker, id, "completed")).output).toBe("1 in all");
      expect(tries).toBe(2);
    }, 60_000);

    test("a signal counts as there until it was taken", async () => {
      const database = new Database({ url, schema: "manyhands", connections: 1, log: silentLog });
      try {
        await start(engine());
        const [{ n }] = await sql.unsafe("SELECT n FROM runs");
        const silent = { onCommitted() {}, onCanceled() {}, onParked() {} };
        const store = claimedRun({ claim: { n: String(n), owner: "me", epoch: "1" }, database, ...silent });
        const insert = "INSERT INTO signals (run, name, id, payload, taken_by) VALUES ($1, $2, $3, 'null', $4)";
        await sql.unsafe(insert, [n, "go", "1", "0"]);
        await sql.unsafe(insert, [n, "stop", "1", null]);
        expect([await store.hasSignal("go"), await store.hasSignal("stop")]).toEqual([false, true]);
        await sql.unsafe(insert, [n, "go", "2", null]);
        expect(await store.hasSignal("go")).toBe(true);
      } finally {
        await database.close();
      }
    }, 60_000);

    test("whose database is away do not guess whether a run is still theirs", async () => {
      const database = new Database({ url, schema: "manyhands", connections: 1, log: silentLog });
      try {
        const { id } = await start(engine());
        const [{ n }] = await sql.unsafe("SELECT n FROM runs WHERE id = $1", [id]);
        await sql.unsafe("UPDATE heads SET owner = 'me', epoch = 7 WHERE run = $1", [n]);
        const silent = { onCommitted() {}, onCanceled() {}, onParked() {} };
        const store = claimedRun({ claim: { n: String(n), owner: "me", epoch: "7" }, database, ...silent });
        expect(await store.leaseState()).toBe("held");
        for (const [owner, epoch] of [
          ["other", 7],
          ["me", 8],
          ["me", 6],
        ]) {
          await sql.unsafe("UPDATE heads SET owner = $2, epoch = $3 WHERE run = $1", [n, owner, epoch]);
          expect(await store.leaseState()).toBe("lost");
        }
        await sql.unsafe("UPDATE heads SET owner = 'me', epoch = 7 WHERE run = $1", [n]);
        expect(await store.leaseState()).toBe("held");
        await sql.unsafe("UPDATE heads SET owner = 'other', epoch = 8 WHERE run = $1", [n]);
        await server().stop();
        const leaseState = store.leaseState();
        // Kept from being reported as nobody's while the server starts.
        leaseState.catch(() => undefined);
        await server().start();
        expect(await leaseState).toBe("lost");
      } finally {
        await database.close();
      }
    }, 60_000);

    /** Until it is stopped, no connection listens for longer than a moment. */
    async function cutListening() {
      let isOver = false;
      const cutting = (async () => {
        for (; !isOver; await Bun.sleep(20))
          await sql.unsafe(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen %'",
          );
      })();
      return () => {
        isOver = true;
        return cutting;
      };
    }

    const deafnesses: readonly (readonly [string, () => Promise<() => Promise<void>>])[] = [
      ["lose their connection again and again", cutListening],
      [
        "are never told anything",
        async () => {
          await sql.unsafe("ALTER FUNCTION pg_catalog.pg_notify(text, text) RENAME TO pg_says_nothing");
          return async () => undefined;
        },
      ],
    ];
    test.each(deafnesses)(
      "that %s still see signals, cancellations and events, by looking for them",
      async (_, deafen) => {
        const worker = engine(async (run) => run.signal<string>("go"), 100, 200);
        const caller = engine(undefined, 30_000, 200);
        const hear = await deafen();
        try {
          const signaled = (await caller.start({ ...request, input: 1 })).run;
          const items = Array.fromAsync(caller.follow(signaled.id, { signal: AbortSignal.timeout(20_000) }));
          await until(caller, signaled.id, "waiting");
          await caller.deliver(signaled.id, "go", "went");
          expect((await until(caller, signaled.id, "completed")).output).toBe("went");
          expect((await items).map(({ event }) => event.type)).toContain("run-ended");
          const canceled = (await caller.start({ ...request, input: 2 })).run;
          await until(caller, canceled.id, "waiting");
          await caller.cancel(canceled.id);
          await until(worker, canceled.id, "canceled");
        } finally {
          await hear();
        }
      },
      60_000,
    );
  }),
);
