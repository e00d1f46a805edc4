import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { errand, errandEvents } from "../../testing/durable/errand.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { spawnWorker, type WorkerProcess, working } from "../../testing/durable/spawn-worker.ts";
import { until } from "../../testing/durable/until.ts";
import { createEmbeddedEngine } from "../sqlite/embedded-engine.ts";

/** The run's state and whole record, for comparison before and after. */
function everything(path: string): string {
  using db = new Database(path, { readonly: true });
  const tables = ["runs", "journal", "events", "signals"].map((table) => db.query(`SELECT * FROM ${table}`).all());
  return JSON.stringify(tables);
}

/**
 * Stops processes while none of them is in a transaction: one stopped with the store's lock would
 * block all others.
 */
function stop(path: string, ...workers: readonly WorkerProcess[]): void {
  using db = new Database(path);
  db.run("PRAGMA busy_timeout = 5000");
  db.run("BEGIN IMMEDIATE");
  for (const worker of workers) worker.kill("SIGSTOP");
  db.run("ROLLBACK");
}

test("a worker suspended past its lease writes nothing for its old runs when it wakes, and then continues to work", async () => {
  using store = scratch();
  const { path, effects } = store;
  const engine = createEmbeddedEngine({ path, pollMs: 10, leaseMs: 400 });
  const zombie = spawnWorker({ path, effects, stepMs: 60, leaseMs: 400 });
  try {
    await working(zombie);
    const { run } = await engine.start({ kind: "errand", input: null, principal: "p", contextId: "c" });
    await engine.deliver(run.id, "note", "n");
    await engine.deliver(run.id, "answer", "yes");
    await until(() => store.effectCounts().size >= 2);
    stop(path, zombie);

    const stopped = performance.now();
    engine.work([errand(effects, 1)]);
    await until(async () => (await engine.get(run.id))?.status === "completed");
    expect(performance.now() - stopped).toBeGreaterThan(400);
    const told = (await engine.events(run.id)).map(({ event }) => (event.type === "stepped" ? event.name : event.type));
    expect(told.map(String).toSorted()).toEqual(errandEvents.toSorted());

    const before = everything(path);
    zombie.kill("SIGCONT");
    await Bun.sleep(300);
    expect(everything(path)).toBe(before);

    await engine.close();
    const later = createEmbeddedEngine({ path, pollMs: 10 });
    const next = await later.start({ kind: "errand", input: null, principal: "p", contextId: "c" });
    await later.deliver(next.run.id, "answer", "yes");
    await until(async () => (await later.get(next.run.id))?.status === "completed");
    await later.close();
    zombie.kill("SIGTERM");
    expect(await zombie.exited).toBe(0);
  } finally {
    zombie.kill("SIGKILL");
    await zombie.exited;
    await engine.close();
  }
});

test("workers suspended together do not take each other's runs when they wake", async () => {
  using store = scratch();
  const { path, effects } = store;
  const engine = createEmbeddedEngine({ path, pollMs: 10 });
  const settings = { path, effects, stepMs: 40, leaseMs: 400 };
  const workers = [spawnWorker(settings), spawnWorker(settings)] as const;
  try {
    for (const worker of workers) await working(worker);
    const { run } = await engine.start({ kind: "errand", input: null, principal: "p", contextId: "c" });
    await engine.deliver(run.id, "answer", "yes");
    await until(() => store.effectCounts().size >= 2);
    stop(path, ...workers);
    await Bun.sleep(1000);
    for (const worker of workers) {
      worker.kill("SIGCONT");
      await Bun.sleep(60);
    }
    await until(async () => (await engine.get(run.id))?.status === "completed");
    using db = new Database(path, { readonly: true });
    expect(db.query("SELECT epoch FROM runs").get()).toEqual({ epoch: 1 });
    expect([...new Set(store.effectCounts().values())]).toEqual([1]);
  } finally {
    for (const worker of workers) worker.kill("SIGKILL");
    await Promise.all(workers.map((worker) => worker.exited));
    await engine.close();
  }
});
