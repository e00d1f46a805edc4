import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Engine, silentLog } from "../../core/runs/engine.ts";
import type { Run } from "../../core/runs/run.ts";
import { until as happened } from "../../testing/durable/until.ts";
import { withPostgres } from "../../testing/durable/with-postgres.ts";
import { type SilentProxy, startSilentProxy } from "../../testing/server/silent-proxy.ts";
import { body, request, start, until } from "../conformance/cases.ts";
import { Database } from "./database.ts";
import { createPostgresEngine, migratePostgres } from "./postgres-engine.ts";

const leaseMs = 2_000;
const silenceMs = 3_000;
/** Far less than TCP takes to notice, on a busy machine. */
const soonMs = 20_000;

withPostgres((server) =>
  describe("a server that says nothing, on connections that are there", () => {
    let url: string;
    let proxy: SilentProxy;
    const opened: Engine[] = [];
    beforeAll(async () => {
      url = await server().createDatabase();
      await migratePostgres({ url });
      proxy = await startSilentProxy(url);
    }, 60_000);
    afterEach(async () => {
      proxy.speak();
      await Promise.all(opened.splice(0).map((engine) => engine.close({ graceMs: 0 })));
      await server().emptyDatabase(url);
    }, 60_000);

    function engine(address: string, execute?: (run: Run) => Promise<string>, pollMs = 2_000): Engine {
      const made = createPostgresEngine({ url: address, leaseMs, silenceMs, pollMs, stopMs: 500, connections: 3 });
      opened.push(made);
      if (execute !== undefined) made.work([body(execute)], { concurrency: 4 });
      return made;
    }

    /** Steps that begin, by whom. */
    function twoSteps(by: string, begun: string[], gate: Promise<void>) {
      return async (run: Run) => {
        await run.step("hold", async ({ signal }) => {
          begun.push(`${by} held`);
          await Promise.race([gate, new Promise((_, gone) => signal.addEventListener("abort", gone))]);
          return null;
        });
        const act = async () => {
          begun.push(`${by} acted`);
          return by;
        };
        return run.step("act", act, { effect: "once" });
      };
    }

    const healthy = (engine: Engine) => happened(() => engine.health().ok, soonMs);

    test("costs a worker its runs when its lease is over, which another finishes, and does nothing after that", async () => {
      const begun: string[] = [];
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const first = engine(proxy.url, twoSteps("first", begun, gate));
      const { id } = await start(first);
      await happened(() => begun.length === 1);
      const second = engine(url, twoSteps("second", begun, Promise.resolve()));
      await happened(() => second.health().ok);
      proxy.silence("all");
      expect((await until(second, id, "completed")).output).toBe("second");
      open();
      await Bun.sleep(500);
      expect(begun).toEqual(["first held", "second held", "second acted"]);
      // It says so, refuses new work, and works again by itself.
      const refused = first.start({ ...request, contextId: "other" }).catch((error) => error);
      expect((await refused).code).toBe("storage_unavailable");
      expect(first.health().ok).toBe(false);
      proxy.speak();
      await happened(
        () =>
          first.start({ ...request, contextId: "other" }).then(
            () => true,
            () => false,
          ),
        soonMs,
      );
      await healthy(first);
    }, 90_000);

    test("is asked anew on other connections, on which what happens elsewhere is heard, too", async () => {
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const reader = engine(proxy.url, undefined, 60_000);
      const worker = engine(url, async (run) => {
        await run.step("hold", () => gate.then(() => null));
        return "done";
      });
      const { id } = await start(reader);
      const told = (signal: AbortSignal) => Array.fromAsync(reader.follow(id, { signal }));
      const leaving = new AbortController();
      const left = told(leaving.signal).catch(() => undefined);
      await until(worker, id, "running");
      proxy.silence("these");
      await Promise.all(Array.from({ length: 3 }, () => reader.get(id).catch(() => undefined)));
      // Twice as long as it takes to notice that nothing is heard.
      await Bun.sleep(silenceMs * 2);
      const followed = told(AbortSignal.timeout(soonMs));
      await Bun.sleep(500);
      open();
      expect((await followed).map(({ event }) => event.type)).toEqual(["run-ended"]);
      await healthy(reader);
      leaving.abort();
      await left;
    }, 90_000);

    test("from when it is asked for news on, keeps nobody waiting who follows a run", async () => {
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const reader = engine(proxy.url);
      const worker = engine(url, async (run) => {
        await run.step("hold", () => gate.then(() => null));
        return "done";
      });
      const { id } = await start(worker);
      proxy.silenceOn("LISTEN");
      const followed = Array.fromAsync(reader.follow(id, { signal: AbortSignal.timeout(soonMs) }));
      await until(worker, id, "running");
      open();
      expect((await followed).map(({ event }) => event.type)).toEqual(["run-ended"]);
    }, 90_000);

    test("is refused by statements of every kind, and a transaction is written or not", async () => {
      const database = new Database({ url: proxy.url, schema: "manyhands", connections: 2, log: silentLog, silenceMs });
      await database.query("CREATE TABLE IF NOT EXISTS written (n int)");
      proxy.silence("these");
      const asked = [
        ...Array.from({ length: 5 }, () => database.query("SELECT 1")),
        database.transaction((run) => run("INSERT INTO written VALUES (1)")),
        database.alone(7, async (run) => run("SELECT 1")),
      ];
      for (const answer of await Promise.allSettled(asked))
        expect(answer).toMatchObject({ status: "rejected", reason: { code: "storage_unavailable" } });
      expect(await database.query("SELECT n FROM written")).toEqual([]);
      await database.close();
    }, 90_000);

    test("that goes on within a lease has cost nothing", async () => {
      const begun: string[] = [];
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const worker = engine(url, twoSteps("it", begun, gate));
      const { id } = await start(worker);
      await happened(() => begun.length === 1);
      const all = (await Bun.$`pgrep -P ${server().pid()}`.text()).trim().split("\n").map(Number);
      for (const pid of [server().pid(), ...all]) process.kill(pid, "SIGSTOP");
      await Bun.sleep(leaseMs / 2);
      open();
      for (const pid of [server().pid(), ...all]) process.kill(pid, "SIGCONT");
      expect((await until(worker, id, "completed")).output).toBe("it");
      expect(begun).toEqual(["it held", "it acted"]);
    }, 90_000);
  }),
);
