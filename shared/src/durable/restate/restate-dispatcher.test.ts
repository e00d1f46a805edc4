import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Engine } from "../../core/engine.ts";
import type { RunDefinition } from "../../core/run.ts";
import { freePort } from "../../http/free-port.ts";
import {
  noPostgres,
  type PostgresProcess,
  postgresPrograms,
  startPostgres,
} from "../../testing/durable/postgres-process.ts";
import { noRestate, type RestateProcess, restateProgram, startRestate } from "../../testing/durable/restate-process.ts";
import { until as happened } from "../../testing/durable/until.ts";
import { request, until } from "../conformance/cases.ts";
import { migratePostgres } from "../postgres/postgres-engine.ts";
import { RestateEndpoint } from "./restate-endpoint.ts";
import { createRestateEngine, engineBehind } from "./restate-engine.ts";

const serversMs = 60_000;
const missing = postgresPrograms === undefined ? noPostgres : restateProgram === undefined ? noRestate : undefined;
if (missing !== undefined) test.skip(missing, () => undefined);
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
  });
