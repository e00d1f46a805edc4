import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { Run, RunDefinition } from "manyhands/internal/core/runs/run";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";

/**
 * What a durable step costs compared with a raw insert of the same size on the same disk in the
 * same minute. Run it with `bun test/bench/durable.ts`; it exits with 1 if a target is missed.
 */
const payload = "x".repeat(500);
const folder = mkdtempSync(join(tmpdir(), "bench-"));

/** Median milliseconds of one insert in a separate transaction, synced like the engine's. */
function rawInsert(count: number): number {
  const db = new Database(join(folder, "raw.db"));
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = FULL");
  db.run("CREATE TABLE IF NOT EXISTS t (run INTEGER, path TEXT, out TEXT, UNIQUE (run, path))");
  const insert = db.query("INSERT INTO t VALUES (?, ?, ?)");
  const run = Math.random() * 2 ** 40;
  const times = Array.from({ length: count }, (_, n) => {
    const begun = performance.now();
    insert.run(Math.floor(run), String(n), payload);
    return performance.now() - begun;
  });
  db.close();
  return median(times);
}

/** Runs the body this many times concurrently; returns how long all of them took. */
async function timed(runs: number, execute: (run: Run) => Promise<null>): Promise<number> {
  const engine: Engine = createEmbeddedEngine({ path: join(folder, `${crypto.randomUUID()}.db`) });
  const left = { count: runs, done: Promise.withResolvers<void>() };
  const definition: RunDefinition = {
    kind: "bench",
    async execute(run) {
      await execute(run);
      if (--left.count === 0) left.done.resolve();
      return null;
    },
  };
  const starts = Array.from({ length: runs }, () =>
    engine.start({ kind: "bench", input: null, principal: "bench", contextId: "bench" }),
  );
  await Promise.all(starts);
  const begun = performance.now();
  engine.work([definition], { concurrency: runs });
  await left.done.promise;
  const took = performance.now() - begun;
  await engine.close();
  return took;
}

/** Milliseconds of each of `count` steps of one run, one after another. */
async function serialSteps(count: number): Promise<number[]> {
  const times: number[] = [];
  await timed(1, async (run) => {
    for (let n = 0; n < count; n++) {
      const begun = performance.now();
      await run.step("step", async () => payload);
      times.push(performance.now() - begun);
    }
    return null;
  });
  return times;
}

async function throughput(runs: number, steps: number): Promise<number> {
  const took = await timed(runs, async (run) => {
    for (let n = 0; n < steps; n++) await run.step("step", async () => payload);
    return null;
  });
  return (runs * steps * 1000) / took;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

type Result = { readonly name: string; readonly value: number; readonly target: number; readonly atLeast?: boolean };

function report({ name, value, target, atLeast = false }: Result): boolean {
  const met = atLeast ? value >= target : value <= target;
  console.log(`${met ? "ok  " : "MISS"} ${name}: ${value.toFixed(2)} (target ${atLeast ? "≥" : "≤"} ${target})`);
  return met;
}

try {
  await serialSteps(200);
  const before = rawInsert(500);
  const steps = await serialSteps(2010);
  const raw = (before + rawInsert(500)) / 2;
  const early = median(steps.slice(10, 210));
  const late = median(steps.slice(1810, 2010));
  const perSecond = Math.max(await throughput(200, 20), await throughput(200, 20));
  const compiled = [];
  for (let round = 0; round < 5; round++) compiled.push(await throughput(200, 50));
  console.log(
    `raw insert ${raw.toFixed(3)} ms, durable step ${median(steps).toFixed(3)} ms (median, ${payload.length} bytes)`,
  );
  const results = [
    report({ name: "durable step ÷ raw insert", value: median(steps) / raw, target: 5 }),
    report({ name: "durable step, median ms", value: median(steps), target: 1 }),
    report({ name: "steps 1810–2010 ÷ steps 10–210", value: late / early, target: 1.5 }),
    report({
      name: "steps per second over 200 runs, the first of a process",
      value: perSecond,
      target: 5000,
      atLeast: true,
    }),
    report({ name: "the same once the code is compiled", value: median(compiled), target: 60_000, atLeast: true }),
  ];
  process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
