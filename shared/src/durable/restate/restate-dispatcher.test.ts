import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, createServer } from "node:net";
import { type Engine, silentLog } from "../../core/runs/engine.ts";
import type { RunDefinition } from "../../core/runs/run.ts";
import { freePort } from "../../http/free-port.ts";
import {
  noPostgres,
  type PostgresProcess,
  postgresPrograms,
  startPostgres,
} from "../../testing/durable/postgres-process.ts";
import { noRestate, restateProgram } from "../../testing/durable/restate-node.ts";
import { type RestateProcess, startRestate } from "../../testing/durable/restate-process.ts";
import { skipped } from "../../testing/durable/skipped.ts";
import { until as happened } from "../../testing/durable/until.ts";
import { request, until } from "../conformance/cases.ts";
import { migratePostgres } from "../postgres/postgres-engine.ts";
import { Ingress } from "./ingress.ts";
import { type DrivenWorker, RestateEndpoint } from "./restate-endpoint.ts";
import { createRestateEngine, engineBehind } from "./restate-engine.ts";

const serversMs = 60_000;
const missing = postgresPrograms === undefined ? noPostgres : restateProgram === undefined ? noRestate : undefined;
if (missing !== undefined) skipped(missing);
else
  describe("a Restate that fails", () => {
    let server: PostgresProcess;
    let restate: RestateProcess;
    beforeAll(async () => {
      [server, restate] = await Promise.all([startPostgres(), startRestate()]);
      await migratePostgres({ url: server.url });
    }, serversMs);
    afterAll(async () => {
      await restate[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    }, serversMs);

    const settingsOf = (prefix: string, ingress = [restate.ingress]) => ({
      url: server.url,
      connections: 4,
      restate: { admin: restate.admin, prefix, ingress },
    });
    const close = (...engines: Engine[]) => Promise.all(engines.map((engine) => engine.close({ graceMs: 0 })));

    test(
      "and comes back while steps are under way repeats none of them, wherever it calls",
      async () => {
        const steps: string[] = [];
        const gates = { a: Promise.withResolvers<null>(), b: Promise.withResolvers<null>() };
        const held: RunDefinition = {
          kind: "held",
          execute: (run, input) =>
            run.step("hold", async () => {
              steps.push(String(input));
              return await gates[input as "a" | "b"].promise;
            }),
        };
        const endpoint = new RestateEndpoint({ admin: restate.admin, prefix: "back" });
        const engines = [1, 2].map(() => engineBehind(endpoint, settingsOf("back")));
        const [engine] = engines;
        if (engine === undefined) throw new Error("There are two.");
        for (const one of engines) one.work([held], { concurrency: 4 });
        const runs = await Promise.all(
          ["a", "b"].map((input) => engine.start({ ...request, kind: "held", contextId: input, input })),
        );
        for (const { run } of runs) await until(engine, run.id, "running");
        await restate.stop();
        await restate.start();
        // Its calls come again, to the replica that has most room.
        await happened(async () => (await restate.callsOf("back")) === 2);
        gates.a.resolve(null);
        gates.b.resolve(null);
        for (const { run } of runs) await until(engine, run.id, "completed");
        expect(steps.toSorted()).toEqual(["a", "b"]);
        await close(...engines);
        await endpoint.close();
      },
      serversMs,
    );

    test(
      "delays what was accepted without it until it is back, and timers with it",
      async () => {
        const engine = createRestateEngine(settingsOf("late"));
        const slept: RunDefinition = {
          kind: "slept",
          async execute(run) {
            await run.sleep(1500);
            return "woken";
          },
        };
        engine.work([slept]);
        const first = (await engine.start({ ...request, kind: "slept" })).run;
        await until(engine, first.id, "waiting");
        await restate.stop();
        const second = (await engine.start({ ...request, kind: "slept" })).run;
        expect((await engine.get(second.id))?.status).toBe("queued");
        await restate.start();
        for (const { id } of [first, second]) await happened(async () => (await engine.get(id))?.output === "woken");
        await close(engine);
      },
      serversMs,
    );

    test(
      "at one of its addresses is asked at another",
      async () => {
        const engine = createRestateEngine(settingsOf("some", [`http://127.0.0.1:${freePort()}`, restate.ingress]));
        engine.work([{ kind: "plain", execute: async () => "done" }]);
        const { run } = await engine.start({ ...request, kind: "plain" });
        expect((await until(engine, run.id, "completed")).output).toBe("done");
        await close(engine);
      },
      serversMs,
    );

    test(
      "has all of many runs that wait for room here, so that they take turns",
      async () => {
        const engine = createRestateEngine(settingsOf("many"));
        const gate = Promise.withResolvers<null>();
        engine.work([{ kind: "gated", execute: (run) => run.step("wait", () => gate.promise) }], { concurrency: 1 });
        const waiting = Array.from({ length: 150 }, () => engine.start({ ...request, kind: "gated" }));
        const runs = (await Promise.all(waiting)).map(({ run }) => run);
        await happened(async () => (await restate.callsOf("many")) === runs.length, 10_000);
        gate.resolve(null);
        for (const { id } of runs) await until(engine, id, "completed");
        await close(engine);
      },
      serversMs,
    );

    test(
      "gives a run to a worker here that has room for it, if any has, and one that no worker takes comes again",
      async () => {
        const endpoint = new RestateEndpoint({ admin: restate.admin, prefix: "room" });
        const ingress = new Ingress([restate.ingress], silentLog);
        const driven: string[] = [];
        let asked = 0;
        const worker = (name: string, room: number): DrivenWorker => ({
          serves: () => asked++ > 0,
          roomFor: () => room,
          drive: async (_, runId) => void driven.push(`${runId} by ${name}`),
        });
        await endpoint.serve(["k"]);
        const send = (runId: string) => happened(() => ingress.send({ service: endpoint.serviceOf("k"), runId }));
        const free = worker("free", 1);
        endpoint.add(free);
        // The first time nobody serves its kind.
        await send("early");
        await happened(() => driven.length === 1, 10_000);
        for (const name of ["a", "b", "c"]) endpoint.add(worker(name, 0));
        for (let n = 0; n < 12; n++) await send(`${n}`);
        await happened(() => driven.length === 13);
        expect(driven.filter((how) => !how.endsWith(" by free"))).toEqual([]);
        endpoint.remove(free);
        await send("late");
        await happened(() => driven.length === 14);
        expect(driven.at(-1)).toMatch(/^late by [abc]$/);
        await endpoint.close();
      },
      serversMs,
    );

    test(
      "behind a balancer of connections gives runs to a replica that comes later, since connections end after some calls",
      async () => {
        const done = [0, 0, 0];
        const ports = done.map(() => freePort());
        await using balancer = balanceConnections(ports);
        const open = (n: number) => {
          const { restate: settings, ...rest } = settingsOf("spread");
          const publicUrl = balancer.url;
          const engine = createRestateEngine({ ...rest, restate: { ...settings, port: ports[n] ?? 0, publicUrl } });
          const count = async () => {
            done[n] = (done[n] ?? 0) + 1;
            return n;
          };
          engine.work([{ kind: "counted", execute: (run) => run.step("count", count) }]);
          return engine;
        };
        let started = 0;
        const work = async (engine: Engine, runs: number) => {
          for (let left = runs; left > 0; left -= 8) {
            const some = Array.from({ length: 8 }, () =>
              engine.start({ ...request, kind: "counted", contextId: `${left}` }),
            );
            started += (await Promise.all(some)).length;
            await happened(async () => done.reduce((sum, each) => sum + each) === started);
          }
        };
        const first = open(0);
        const second = open(1);
        await work(first, 24);
        const third = open(2);
        await work(first, 120);
        expect(Math.min(...done)).toBeGreaterThan(8);
        await close(first, second, third);
      },
      serversMs,
    );
  });

/** Passes each connection on to the next of these ports, as the Service of a cluster does. */
function balanceConnections(ports: readonly number[]): AsyncDisposable & { readonly url: string } {
  let turn = 0;
  const server = createServer((client) => {
    client.on("error", () => undefined);
    // Whoever does not listen gets none.
    const attempt = (tries: number) => {
      const backend = connect(ports[turn++ % ports.length] ?? 0, "127.0.0.1");
      let isOpen = false;
      backend.once("connect", () => {
        isOpen = true;
        client.pipe(backend).pipe(client);
      });
      backend.on("error", () => (isOpen || tries === 0 ? client.destroy() : attempt(tries - 1)));
      backend.on("close", () => isOpen && client.destroy());
      client.on("close", () => backend.destroy());
    };
    attempt(ports.length);
  });
  const port = freePort();
  server.listen(port, "127.0.0.1");
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}
