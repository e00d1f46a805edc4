import { Database } from "bun:sqlite";
import { expect, jest, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import { silentLog } from "../../../core/runs/engine.ts";
import type { Run } from "../../../core/runs/run.ts";
import { scratch } from "../../../testing/durable/scratch.ts";
import { until } from "../../../testing/durable/until.ts";
import { Live } from "../../live.ts";
import { createEmbeddedEngine } from "../embedded-engine.ts";
import { machineClock } from "../machine-clock.ts";
import { RunClock } from "../run-clock.ts";
import { Watch } from "../watch.ts";
import { Writer } from "../writer.ts";
import { Worker } from "./worker.ts";

const request = { kind: "k", input: null, principal: "p", contextId: "c" };

/** A worker of its own for a store, whose news from other processes come when the test says so. */
async function worker(execute: (run: Run) => Promise<null>, { concurrency = 1, leaseMs = 60_000 } = {}) {
  const store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  const watch = new Watch({ pollMs: 60_000, version: () => 0, onChange: () => undefined, onTick: () => undefined });
  const own = new Worker({
    ...{ writer, watch, live: new Live(), log: silentLog, leaseMs, stopMs: 50 },
    clock: new RunClock(machineClock(), silentLog),
  });
  own.add([{ kind: "k", execute }], { concurrency, dedicatedPool: false });
  const db = new Database(store.path);
  await until(() => db.query("SELECT 1 FROM workers").get() !== null);
  // By then it knows that there is nothing to claim.
  await until(() => {
    const seat = own.reserve("k");
    seat?.leave();
    return seat !== undefined;
  });
  let made = 0;
  return {
    own,
    db,
    writer,
    /** A run that waits for a worker. */
    queue() {
      const id = `r${++made}`;
      db.run(
        `INSERT INTO runs (id, kind, status, principal, context_id, input, due, epoch, created_at, updated_at)
         VALUES (?, 'k', 'queued', 'p', 'c', 'null', 0, 0, 0, 0)`,
        [id],
      );
      return id;
    },
    status: (id: string) =>
      db.query<{ status: string }, [string]>("SELECT status FROM runs WHERE id = ?").get(id)?.status,
    async [Symbol.asyncDispose]() {
      await own.close(0);
      watch.close();
      await writer.close(100);
      db.close();
      store[Symbol.dispose]();
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A body that waits in a step until it is aborted, or for a signal beside it. */
function held() {
  const aborted = Promise.withResolvers<void>();
  let isAborted = false;
  const begun = Promise.withResolvers<void>();
  const heard: unknown[] = [];
  const execute = async (run: Run) => {
    await run.all<unknown>([
      async (own) => heard.push(await own.signal("go")),
      (own) =>
        own.step("wait", async ({ signal }) => {
          signal.addEventListener("abort", () => {
            isAborted = true;
            aborted.resolve();
          });
          begun.resolve();
          return new Promise<null>(() => undefined);
        }),
    ]);
    return null;
  };
  return { execute, heard, begun: begun.promise, aborted: aborted.promise, isAborted: () => isAborted };
}

test("while a worker looks for runs nobody gets a place that it may be about to give one of them", async () => {
  await using at = await worker(async () => null);
  const before = at.own.reserve("k");
  expect(before).toBeDefined();
  before?.leave();
  // It looks again, since the place was not taken.
  expect(at.own.reserve("k")).toBeUndefined();
});

test("a place that was reserved and left untaken is had by a run that came meanwhile", async () => {
  await using at = await worker(async () => null);
  const seat = at.own.reserve("k");
  expect(at.own.reserve("k")).toBeUndefined();
  const id = at.queue();
  at.own.wake();
  await turn();
  expect(at.status(id)).toBe("queued");
  seat?.leave();
  await until(() => at.status(id) === "completed");
});

test.each([
  ["claimed anew, by the same worker", "UPDATE runs SET epoch = epoch + 1"],
  ["claimed by another", "UPDATE runs SET owner = 'other'"],
  ["nobody's", "UPDATE runs SET owner = NULL, status = 'queued', kind = 'other'"],
  ["deleted", "DELETE FROM runs"],
  ["canceled", "UPDATE runs SET cancel_requested = 1"],
])("the body of a run that another process says is %s stops", async (_, change) => {
  const body = held();
  await using at = await worker(body.execute);
  at.queue();
  at.own.wake();
  await body.begun;
  // It waits by then, and asks for nothing more of its own accord.
  await until(() => at.db.query("SELECT 1 FROM journal WHERE kind = 'signal'").get() !== null);
  for (let turns = 0; turns < 5; turns++) await turn();
  await at.own.catchUp();
  expect(body.isAborted()).toBe(false);
  at.db.run(change);
  await at.own.catchUp();
  await body.aborted;
});

test("a signal that another process delivered reaches a body in a step, and takes nothing from it", async () => {
  const body = held();
  await using at = await worker(body.execute);
  at.queue();
  at.own.wake();
  await body.begun;
  at.db.run("INSERT INTO signals (run, name, id, payload) VALUES (1, 'other', '1', '1'), (1, 'go', '2', '2')");
  await at.own.catchUp();
  await until(() => body.heard.length > 0);
  expect([body.heard, body.isAborted()]).toEqual([[2], false]);
});

test("a worker that learns that it was declared dead stops the bodies of the runs it held", async () => {
  const body = held();
  await using at = await worker(body.execute, { leaseMs: 100 });
  at.queue();
  at.own.wake();
  await body.begun;
  at.db.run("DELETE FROM workers");
  await body.aborted;
  // Under its new name too others know what it executes, and pause none of that.
  const offered = "SELECT 1 FROM workers, json_each(bodies) WHERE value = 'k 1'";
  await until(() => at.db.query(offered).get() !== null);
});

test("news of another process while a run is being accepted take it from nobody", async () => {
  using store = scratch();
  jest.useFakeTimers();
  const engine = createEmbeddedEngine({ path: store.path });
  try {
    engine.work([{ kind: "k", execute: async (run) => run.step("s", async () => "done") }]);
    const ended = async () => {
      const starting = engine.start(request);
      using db = new Database(store.path);
      db.run("UPDATE workers SET beat = beat + 1");
      // The poll that notices it comes before what is being stored is.
      jest.advanceTimersByTime(50);
      const { run } = await starting;
      for (let turns = 0; turns < 200; turns++) await turn();
      return (await engine.get(run.id))?.output;
    };
    // The first one registers the worker.
    await ended();
    expect(await ended()).toBe("done");
  } finally {
    jest.useRealTimers();
    await engine.close();
  }
});

test("a worker that is closed while it claims hands back what it claims", async () => {
  await using at = await worker(held().execute);
  const id = at.queue();
  at.own.wake();
  await at.own.close(0);
  expect(at.status(id)).toBe("queued");
  expect(at.db.query("SELECT id FROM workers").all()).toEqual([]);
  expect(() => at.own.add([], { concurrency: 1, dedicatedPool: false })).toThrow("This engine is closed.");
});

test("a run that is canceled just as it is claimed stops, though nobody tells of that any more", async () => {
  const work = (run: Run) => (run.abortSignal.aborted ? Promise.resolve(null) : new Promise<null>(() => undefined));
  await using at = await worker(work);
  // What a claim returns is of before.
  at.db.run(`CREATE TRIGGER cancel AFTER UPDATE OF owner ON runs WHEN new.owner IS NOT NULL
    BEGIN UPDATE runs SET cancel_requested = 1 WHERE n = new.n; END`);
  const id = at.queue();
  at.own.wake();
  await until(() => at.status(id) === "canceled", 10_000);
});

test("a run whose journal cannot be read because the store is away is claimed again", async () => {
  await using at = await worker(async () => null);
  await at.writer.read(({ journal }) => {
    const { ofRun } = journal;
    journal.ofRun = () => {
      journal.ofRun = ofRun;
      throw new AppError("storage_unavailable", "It is away.");
    };
  });
  const id = at.queue();
  at.own.wake();
  await until(() => at.status(id) === "completed", 10_000);
});
