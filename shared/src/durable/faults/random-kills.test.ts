import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../core/json.ts";
import type { Engine } from "../../core/runs/engine.ts";
import { programs } from "../../testing/durable/arbitrary-program.ts";
import { errandEvents, errandOutput } from "../../testing/durable/errand.ts";
import { operationsOf, payloadOf, simulate } from "../../testing/durable/program.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { spawnWorker, type WorkerProcess, working } from "../../testing/durable/spawn-worker.ts";
import { sweepSize } from "../../testing/sweep-size.ts";
import { createEmbeddedEngine } from "../sqlite/embedded-engine.ts";

const flows = 25;
const kills = 8;
const workers = 3;

/** Numbers determined by the seed alone. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

/** Starts random programs with all the signals they need; returns what each must return. */
async function startPrograms(engine: Engine, seed: number): Promise<{ id: string; expected: Json }[]> {
  const started = [];
  for (const program of fc.sample(programs([0, 1, 30]), { seed, numRuns: flows })) {
    const input = JSON.parse(JSON.stringify(program));
    const { run } = await engine.start({ kind: "program", input, principal: "p", contextId: "c" });
    let n = 0;
    for (const operation of operationsOf(program)) {
      if (operation.do !== "signal") continue;
      await engine.deliver(run.id, operation.name, payloadOf(operation.name), { id: `${n++}` });
    }
    started.push({ id: run.id, expected: simulate(program) });
  }
  return started;
}

/**
 * Starts the flows gradually, answers half of them early and half late, while workers are killed
 * and replaced.
 */
async function chaos(
  engine: Engine,
  live: WorkerProcess[],
  spawn: () => Promise<WorkerProcess>,
  random: (below: number) => number,
) {
  const ids: string[] = [];
  const unanswered: string[] = [];
  const answer = async (id: string) => {
    await engine.deliver(id, "note", "n");
    await engine.deliver(id, "answer", "yes");
  };
  for (let n = 0; n < kills; n++) {
    while (ids.length < (flows * (n + 1)) / kills) {
      const { run } = await engine.start({ kind: "errand", input: ids.length, principal: "p", contextId: "c" });
      if (ids.push(run.id) % 2 === 0) await answer(run.id);
      else unanswered.push(run.id);
    }
    await Bun.sleep(20 + random(60));
    const victim = random(workers);
    live[victim]?.kill("SIGKILL");
    await live[victim]?.exited;
    if (n % 2 === 1) await Promise.all(unanswered.splice(0, 1 + random(4)).map(answer));
    live[victim] = await spawn();
  }
  await Promise.all(unanswered.map(answer));
  return ids;
}

/** Everything that could be wrong with a run, as text. */
async function faultsOf(engine: Engine, id: string, effectCounts: () => Map<string, number>): Promise<string[]> {
  for await (const _ of engine.follow(id, { signal: AbortSignal.timeout(60_000) }));
  const run = await engine.get(id);
  const faults = [];
  if (run?.status !== "completed") faults.push(`is ${run?.status}: ${run?.error?.message}`);
  const output = JSON.stringify(run?.output);
  const { serial, parallel, answer, notes } = JSON.parse(output ?? "{}");
  if (!Bun.deepEquals({ serial, parallel, answer, notes }, errandOutput)) faults.push(`returned ${output}`);
  const events = await engine.events(id);
  const names = events.map(({ event }) => (event.type === "stepped" ? String(event.name) : event.type));
  if (!Bun.deepEquals(names.toSorted(), errandEvents.toSorted())) faults.push(`told ${names}`);
  if (names.at(-1) !== "run-ended") faults.push(`told more after its end: ${names}`);
  if (events.some((event, index) => event.seq !== index + 1)) faults.push("has a gap in its events");
  const charges = effectCounts().get(`${id}/6`) ?? 0;
  if (charges > 1) faults.push(`charged ${charges} times`);
  if (charges === 0 && output?.includes('"charged":"charged"')) faults.push("never charged");
  return faults.map((fault) => `run ${id} ${fault}`);
}

const fixed = sweepSize({ quick: [1], usual: [1, 2, 3, 4] });
for (const seed of [...fixed, Date.now() % 100_000]) {
  test(`25 flows and 25 random programs over 3 workers, killed 8 times, all end correctly (seed ${seed})`, async () => {
    using store = scratch();
    const { path, effects } = store;
    const all: WorkerProcess[] = [];
    const spawn = async () => {
      const worker = spawnWorker({ path, effects, stepMs: 8, leaseMs: 2000 });
      all.push(worker);
      await working(worker);
      return worker;
    };
    const engine = createEmbeddedEngine({ path, pollMs: 10 });
    try {
      const live = await Promise.all(Array.from({ length: workers }, spawn));
      const started = await startPrograms(engine, seed);
      const ids = await chaos(engine, live, spawn, randomFrom(seed + 1));
      expect(ids.length).toBe(flows);
      const faults = [];
      for (const id of ids) faults.push(...(await faultsOf(engine, id, store.effectCounts)));
      expect(faults).toEqual([]);
      for (const { id, expected } of started) {
        for await (const _ of engine.follow(id, { signal: AbortSignal.timeout(60_000) }));
        expect((await engine.get(id))?.output).toEqual(expected);
      }
      for (const worker of live) worker.kill("SIGTERM");
      expect(await Promise.all(live.map((worker) => worker.exited))).toEqual(live.map(() => 0));
      const stderr = await Promise.all(all.map((worker) => new Response(worker.stderr).text()));
      expect(stderr.join("")).not.toMatch(/SQLITE|unavailable|could not/);
    } finally {
      for (const worker of all) worker.kill("SIGKILL");
      await Promise.all(all.map((worker) => worker.exited));
      await engine.close();
    }
  });
}
