import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { Engine } from "../../core/engine.ts";
import type { Run } from "../../core/run.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { createEmbeddedEngine } from "./embedded-engine.ts";

const request = { kind: "k", input: null, principal: "p", contextId: "c", dedupe: { key: "m1", hash: "h" } };

/** An engine whose worker is registered, so that it executes at once what it accepts. */
async function working(path: string, execute: (run: Run) => Promise<null>): Promise<Engine> {
  const engine = createEmbeddedEngine({ path });
  engine.work([{ kind: "k", execute }]);
  const { run } = await engine.start({ ...request, dedupe: { key: crypto.randomUUID() } });
  await ended(engine, run.id);
  return engine;
}

async function ended(engine: Engine, id: string): Promise<void> {
  for await (const _ of engine.follow(id, { signal: AbortSignal.timeout(10_000) }));
}

test("a step with effects waits until its run is on disk", async () => {
  using store = scratch();
  const found: unknown[] = [];
  const engine = await working(store.path, async (run) => {
    await run.step("act", async () => {
      using db = new Database(store.path, { readonly: true });
      found.push(db.query("SELECT id FROM runs WHERE id = ?").get(run.id));
      return null;
    });
    return null;
  });
  const { run } = await engine.start(request);
  await ended(engine, run.id);
  expect(found.at(-1)).toEqual({ id: run.id });
  await engine.close();
});

test("of a message that two workers accept at once, one executes the run, and no effect happens twice", async () => {
  using store = scratch();
  let acts = 0;
  const body = async (run: Run) => {
    await run.step("compute", async () => 1, { effect: "pure" });
    await run.step("act", async () => ++acts);
    await run.step("act once", async () => ++acts, { effect: "once" });
    return null;
  };
  const engines = [await working(store.path, body), await working(store.path, body)];
  for (let n = 0; n < 20; n++) {
    acts = 0;
    const again = { ...request, dedupe: { key: `m${n}`, hash: "h" } };
    const both = await Promise.all(engines.map((engine) => engine.start(again)));
    expect(new Set(both.map(({ run }) => run.id)).size).toBe(1);
    expect(both.map(({ created }) => created).toSorted()).toEqual([false, true]);
    for (const [at, { run }] of both.entries()) await ended(engines[at] as Engine, run.id);
    expect(acts).toBe(2);
  }
  for (const engine of engines) await engine.close();
});

test("a message whose acceptance is refused leaves nothing, and does nothing with effects", async () => {
  using store = scratch();
  let acts = 0;
  const engine = await working(store.path, async (run) => {
    await run.step("act", async () => ++acts);
    return null;
  });
  acts = 0;
  using db = new Database(store.path);
  db.run("CREATE TRIGGER refuse BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'refused'); END");
  expect(await engine.start(request).then(String, String)).toContain("refused");
  db.run("DROP TRIGGER refuse");
  const { run } = await engine.start(request);
  await ended(engine, run.id);
  expect([acts, db.query("SELECT count(*) AS n FROM runs").get()]).toEqual([1, { n: 2 }]);
  await engine.close();
});
