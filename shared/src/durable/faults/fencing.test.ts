import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Run } from "../../core/runs/run.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { until } from "../../testing/durable/until.ts";
import { createEmbeddedEngine } from "../sqlite/embedded-engine.ts";

for (const [what, takeOver] of [
  ["another worker", "UPDATE runs SET owner = 'other', epoch = epoch + 1"],
  ["its own worker in another claim", "UPDATE runs SET epoch = epoch + 1"],
] as const) {
  test(`once ${what} has the run, a result is refused even if the loss was not noticed before`, async () => {
    using store = scratch();
    // Nothing is polled, so that only the write itself can find out.
    const engine = createEmbeddedEngine({ path: store.path, pollMs: 3_600_000, leaseMs: 3_600_000 });
    const inStep = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<unknown>();
    engine.work([
      {
        kind: "k",
        async execute(run) {
          run.abortSignal.addEventListener("abort", () => aborted.resolve(run.abortSignal.reason));
          await run.step("late", async (step) => {
            step.emit({ type: "late" });
            inStep.resolve();
            await goOn.promise;
            return 1;
          });
          run.emit({ type: "later still" });
          return null;
        },
      },
    ]);
    const { run } = await engine.start({ kind: "k", input: null, principal: "p", contextId: "c" });
    await inStep.promise;
    using db = new Database(store.path);
    db.run(takeOver);
    goOn.resolve();
    expect(await aborted.promise).toMatchObject({ name: "AbortError" });
    await engine.close();
    expect(db.query("SELECT count(*) AS n FROM journal").get()).toEqual({ n: 0 });
    expect(db.query("SELECT status, last_event, epoch FROM runs WHERE id = ?").get(run.id)).toEqual({
      status: "running",
      last_event: 0,
      epoch: 2,
    });
  });
}

test("a run cancelled elsewhere ends instead of waiting, even if this process had not noticed", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path, pollMs: 3_600_000 });
  const elsewhere = createEmbeddedEngine({ path: store.path, pollMs: 10 });
  const inStep = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  engine.work([
    {
      kind: "k",
      async execute(run) {
        await run.step("work", () => {
          inStep.resolve();
          return goOn.promise.then(() => null);
        });
        return run.signal("go");
      },
    },
  ]);
  const { run } = await engine.start({ kind: "k", input: null, principal: "p", contextId: "c" });
  await inStep.promise;
  await elsewhere.cancel(run.id);
  goOn.resolve();
  for await (const _ of elsewhere.follow(run.id, { signal: AbortSignal.timeout(60_000) }));
  expect((await elsewhere.get(run.id))?.status).toBe("canceled");
  await engine.close();
  await elsewhere.close();
});

test("once a cancel is accepted elsewhere, no step starts here, even if this process had not noticed", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path, pollMs: 3_600_000 });
  const elsewhere = createEmbeddedEngine({ path: store.path, pollMs: 10 });
  let started = 0;
  engine.work([
    {
      kind: "k",
      async execute(run) {
        for (;;) await run.step("work", async () => ++started);
      },
    },
  ]);
  const { run } = await engine.start({ kind: "k", input: null, principal: "p", contextId: "c" });
  await until(() => started >= 20);
  await elsewhere.cancel(run.id);
  const accepted = started;
  for await (const _ of elsewhere.follow(run.id, { signal: AbortSignal.timeout(60_000) }));
  expect(started).toBe(accepted);
  await engine.close();
  await elsewhere.close();
});

test("a run accepted by a worker declared dead meanwhile is not the worker's own, and continues once the worker is alive again", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path, pollMs: 10, leaseMs: 500 });
  const isAlive = () => db.query("SELECT 1 FROM workers").get() !== null;
  const execute = (run: Run) => run.step("work", () => until(isAlive).then(() => null));
  engine.work([{ kind: "k", execute }]);
  using db = new Database(store.path);
  await until(isAlive);
  db.run("DELETE FROM workers");
  const { run } = await engine.start({ kind: "k", input: null, principal: "p", contextId: "c" });
  for await (const _ of engine.follow(run.id, { signal: AbortSignal.timeout(60_000) }));
  expect((await engine.get(run.id))?.status).toBe("completed");
  await engine.close();
});

for (const ends of ["completes", "fails", "forgets what it did"])
  test(`a run cancelled elsewhere whose body ${ends} before this process noticed ends as canceled`, async () => {
    using store = scratch();
    const engine = createEmbeddedEngine({ path: store.path, pollMs: 3_600_000, leaseMs: 3_600_000 });
    const elsewhere = createEmbeddedEngine({ path: store.path, pollMs: 10 });
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { run } = await elsewhere.start({ kind: "k", input: null, principal: "p", contextId: "c" });
    using db = new Database(store.path);
    if (ends.startsWith("forgets"))
      db.run("INSERT INTO journal (run, path, kind, name, state) VALUES (1, '0', 'step', 'before', 'done')");
    engine.work([
      {
        kind: "k",
        async execute() {
          begun.resolve();
          await goOn.promise;
          if (ends === "fails") throw new AppError("stuck", "no");
          return "done";
        },
      },
    ]);
    await begun.promise;
    await elsewhere.cancel(run.id);
    goOn.resolve();
    await until(async () =>
      ["completed", "failed", "paused", "canceled"].includes((await elsewhere.get(run.id))?.status ?? ""),
    );
    const { status, output, error } = (await elsewhere.get(run.id)) ?? {};
    expect([status, output, error]).toEqual(["canceled", undefined, undefined]);
    const events = (await elsewhere.events(run.id)).map(({ event }) => event);
    expect(events).toEqual([{ type: "run-ended", status: "canceled" }]);
    for (const one of [engine, elsewhere]) await one.close();
  });
