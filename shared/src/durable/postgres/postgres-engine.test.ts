import { beforeAll, expect, test } from "bun:test";
import { connect, createServer } from "node:net";
import type { Engine } from "../../core/runs/engine.ts";
import type { Run } from "../../core/runs/run.ts";
import { withPostgres } from "../../testing/durable/with-postgres.ts";
import { engineConformance } from "../conformance.ts";
import { createPostgresEngine, migratePostgres } from "./postgres-engine.ts";

/**
 * Stands before a server, and once cuts a connection that sent `asked` when its commit is answered.
 */
async function cutter(url: string, asked: string) {
  let isCut = false;
  const proxy = createServer((client) => {
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    let isAsked = false;
    client.on("data", (data) => {
      isAsked ||= data.includes(asked);
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      const isTime = !isCut && isAsked && data.includes('"answers"');
      isCut ||= isTime;
      if (isTime) client.destroy();
      else client.write(data);
    });
    client.on("close", () => upstream.destroy()).on("error", () => undefined);
    upstream.on("close", () => client.destroy()).on("error", () => undefined);
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  const through = new URL(url);
  through.port = String((proxy.address() as { readonly port: number }).port);
  return { url: through.href, isCut: () => isCut, [Symbol.dispose]: () => void proxy.close() };
}

withPostgres((server) => {
  let made: string;
  beforeAll(async () => {
    made = await server().createDatabase();
    await migratePostgres({ url: made });
  }, 60_000);

  engineConformance("the engine on PostgreSQL", async () => {
    const url = made;
    const opened: Engine[] = [];
    return {
      isFile: false,
      open({ looks = false } = {}) {
        const engine = createPostgresEngine({ url, stopMs: 500, connections: 4, pollMs: looks ? 200 : 60_000 });
        opened.push(engine);
        return engine;
      },
      async dispose() {
        await Promise.all(opened.map((engine) => engine.close({ graceMs: 0 })));
        await server().emptyDatabase(url);
      },
    };
  });

  test("a write whose answer is lost with the connection is written once", async () => {
    using proxy = await cutter(await server().createDatabase(made), "said-once");
    const engine = createPostgresEngine({ url: proxy.url, stopMs: 500, connections: 4 });
    const execute = async (run: Run) => {
      await run.step("say", async (step) => void step.emit({ type: "said-once" }));
      // The end is another write, so that the run is still held when this one comes again.
      await run.step("wait", async ({ signal }) => {
        while (!proxy.isCut()) {
          signal.throwIfAborted();
          await Bun.sleep(5);
        }
        return null;
      });
      return null;
    };
    engine.work([{ kind: "test", execute }]);
    const { run } = await engine.start({ kind: "test", input: null, principal: "local", contextId: "c" });
    const items = await Array.fromAsync(engine.follow(run.id, { signal: AbortSignal.timeout(30_000) }));
    await engine.close({ graceMs: 0 });
    expect(proxy.isCut()).toBe(true);
    expect(items.map(({ event }) => event.type)).toEqual(["said-once", "run-ended"]);
  }, 60_000);
});
