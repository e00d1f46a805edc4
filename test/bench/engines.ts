import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { Run, RunDefinition } from "manyhands/internal/core/runs/run";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createPostgresEngine, migratePostgres } from "../../shared/src/durable/postgres/postgres-engine.ts";
import { createRestateEngine } from "../../shared/src/durable/restate/restate-engine.ts";
import { noPostgres, postgresPrograms, startPostgres } from "../../shared/src/testing/durable/postgres-process.ts";
import { noRestate, restateProgram } from "../../shared/src/testing/durable/restate-node.ts";
import { startRestate } from "../../shared/src/testing/durable/restate-process.ts";
import { median } from "./bench-server.ts";

/**
 * What a durable step costs on each engine, in one run: one after another, and in many runs at
 * once. PostgreSQL and Restate run on this machine too. Run it with `bun test/bench/engines.ts`; it
 * exits with 1 if a target is missed. How fast a killed process is replaced is measured by
 * `test/faults/shared-store-kills.test.ts`.
 */
const payload = "x".repeat(500);
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const [serial, runs, stepsOfEach, rounds] = [500, 100, 20, 3];
/**
 * Of PostgreSQL and Restate: what an agent's turn with a model takes is a hundred times as long.
 */
const targetMs = 10;
const targetPerSecond = 200;

if (postgresPrograms === undefined) throw new Error(noPostgres);
if (restateProgram === undefined) throw new Error(noRestate);

/** The time that this body takes in `count` runs at once, from the first one's start. */
async function timed(engine: Engine, count: number, body: (run: Run) => Promise<void>): Promise<number> {
  const done = Promise.withResolvers<void>();
  let [left, begun] = [count, 0];
  const definition: RunDefinition = {
    kind: "bench",
    async execute(run) {
      begun ||= performance.now();
      await body(run);
      if (--left === 0) done.resolve();
      return null;
    },
  };
  engine.work([definition], { concurrency: count });
  const request = { kind: "bench", input: null, principal: "bench", contextId: "bench" };
  await Promise.all(Array.from({ length: count }, () => engine.start(request)));
  await done.promise;
  return performance.now() - begun;
}

async function stepMs(open: () => Promise<Engine>): Promise<number> {
  const engine = await open();
  const times: number[] = [];
  await timed(engine, 1, async (run) => {
    for (let n = 0; n < serial; n++) {
      const begun = performance.now();
      await run.step("step", async () => payload);
      times.push(performance.now() - begun);
    }
  });
  await engine.close();
  return median(times.slice(serial / 10));
}

async function stepsPerSecond(open: () => Promise<Engine>): Promise<number> {
  const engine = await open();
  const took = await timed(engine, runs, async (run) => {
    for (let n = 0; n < stepsOfEach; n++) await run.step("step", async () => payload);
  });
  await engine.close();
  return (runs * stepsOfEach * 1000) / took;
}

await using server = await startPostgres();
await using restate = await startRestate();
const database = async () => {
  const url = await server.createDatabase();
  await migratePostgres({ url });
  return url;
};
const engines: Record<string, () => Promise<Engine>> = {
  embedded: async () => createEmbeddedEngine({ path: join(folder, `${crypto.randomUUID()}.db`) }),
  postgres: async () => createPostgresEngine({ url: await database() }),
  restate: async () => {
    const { admin, ingress } = restate;
    const prefix = `b${crypto.randomUUID().slice(0, 8)}`;
    return createRestateEngine({ url: await database(), restate: { admin, ingress: [ingress], prefix } });
  },
};
try {
  const found = Object.fromEntries(
    Object.keys(engines).map((name) => [name, { ms: [] as number[], rate: [] as number[] }]),
  );
  // In turns, so that what else the machine does meets all of them.
  for (let round = 0; round < rounds; round++)
    for (const [name, open] of Object.entries(engines)) {
      found[name]?.ms.push(await stepMs(open));
      found[name]?.rate.push(await stepsPerSecond(open));
    }
  let isMet = true;
  for (const [name, { ms, rate }] of Object.entries(found)) {
    const isGood = name === "embedded" || (median(ms) <= targetMs && median(rate) >= targetPerSecond);
    isMet &&= isGood;
    console.log(
      `${isGood ? "ok  " : "MISS"} ${name}: ${median(ms).toFixed(2)} ms a step, ${Math.round(median(rate))} steps/s`,
    );
  }
  console.log(`Targets of PostgreSQL and Restate: at most ${targetMs} ms, at least ${targetPerSecond} steps/s.`);
  process.exitCode = isMet ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
