import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import * as z from "zod";
import type { Engine } from "../../core/runs/engine.ts";
import { errand, errandEvents, errandOutput, errandUsage } from "../../testing/durable/errand.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { spawnWorker } from "../../testing/durable/spawn-worker.ts";
import { createEmbeddedEngine } from "../sqlite/embedded-engine.ts";

/**
 * Makes a process kill itself at this point of a run and another continue; false if the run ended
 * before that point.
 */
async function crashAndGoOn(crashAt: string): Promise<boolean> {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path, pollMs: 10 });
  try {
    const start = { kind: "errand", input: crashAt, principal: "p", contextId: "c" };
    const { run } = await engine.start(start);
    await engine.deliver(run.id, "answer", "yes");
    await engine.deliver(run.id, "note", "n");
    const { path, effects } = store;
    const child = spawnWorker({ path, effects, stepMs: 0, leaseMs: 60_000, until: run.id, crashAt });
    await child.exited;
    const crashed = child.signalCode === "SIGKILL";
    if (!crashed && child.exitCode !== 0) throw new Error(await new Response(child.stderr).text());
    const recorded = recordedSteps(path, run.id);
    const before = store.effectCounts();
    engine.work([errand(effects, 0)]);
    await ended(engine, run.id);
    const after = store.effectCounts();
    for (const key of recorded) expect([key, after.get(key)]).toEqual([key, before.get(key)]);
    await expectRight(engine, run.id, crashAt, after);
    return crashed;
  } finally {
    await engine.close();
  }
}

async function expectRight(engine: Engine, id: string, input: string, effects: Map<string, number>): Promise<void> {
  const output = z.looseObject({ charged: z.enum(["charged", "interrupted"]) }).parse((await engine.get(id))?.output);
  expect(output).toMatchObject({ input, ...errandOutput });
  const charges = effects.get(`${id}/${chargePath}`) ?? 0;
  expect(charges).toBeGreaterThanOrEqual(output.charged === "charged" ? 1 : 0);
  expect(charges).toBeLessThanOrEqual(1);
  expect(await engine.usage("p")).toMatchObject(errandUsage);
  const events = await engine.events(id);
  expect(events.map((stored) => stored.seq)).toEqual(events.map((_, index) => index + 1));
  const names = events.map(({ event }) => (event.type === "stepped" ? String(event.name) : event.type));
  expect(names.toSorted()).toEqual(errandEvents.toSorted());
  expect(names.at(-1)).toBe("run-ended");
}

/** The path of the errand's once step: after five steps and an `all`. */
const chargePath = "6";

/** Keys of the steps whose result is in the journal. */
function recordedSteps(path: string, id: string): string[] {
  using db = new Database(path, { readonly: true });
  const rows = db
    .query<{ path: string }, [string]>(
      `SELECT path FROM journal JOIN runs ON runs.n = journal.run
       WHERE runs.id = ? AND journal.kind = 'step' AND state = 'done' AND journal.error IS NULL`,
    )
    .all(id);
  return rows.map((row) => `${id}/${row.path}`);
}

async function ended(engine: Engine, id: string): Promise<void> {
  for await (const _ of engine.follow(id, { signal: AbortSignal.timeout(60_000) }));
}

for (const [suffix, when] of [
  ["", "just before"],
  ["+", "just after"],
] as const) {
  test(`a process killed ${when} any commit of a run: another finishes it, and no recorded step is repeated`, async () => {
    let crashes = 0;
    const points = async (first: number): Promise<void> => {
      for (let n = first; await crashAndGoOn(`${n}${suffix}`); n += 2) crashes++;
    };
    await Promise.all([points(1), points(2)]);
    expect(crashes).toBeGreaterThan(15);
  });
}
