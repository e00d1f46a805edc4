import { expect, spyOn, test } from "bun:test";
import { silentLog } from "../../core/runs/engine.ts";
import { until } from "../../testing/durable/until.ts";
import { offerOf } from "../offer.ts";
import type { Pool } from "../postgres/dispatch/executor.ts";
import type { Drive } from "./ingress.ts";
import { RestateDispatcher, type RestateDispatcherOptions } from "./restate-dispatcher.ts";
import { Turns } from "./turns.ts";

type Answer = { readonly [field: string]: unknown };

const row = (id: string) => ({ run: { id, n: id } });
const never = new AbortController().signal;

/**
 * A dispatcher over a database that answers as it is told what to do with a run, with all that it
 * asked Restate for, executed and told.
 */
async function dispatching(answers: readonly (Answer | Promise<Answer> | Error)[] = [], { concurrency = 2 } = {}) {
  const left = [...answers];
  const at = { taken: 0, gone: true, reachable: true, resumed: [] as object[], onSend: (): unknown => undefined };
  const sent: Omit<Drive, "service">[] = [];
  const executed: string[] = [];
  const gates: (() => void)[] = [];
  const told: unknown[] = [];
  const due: { id: string; kind: string; epoch: string; due: string }[] = [];
  const asked: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  const session = { unsafe: async () => [{ id: "known" }], end: async () => undefined };
  const database = {
    session: async () => session,
    sql: { array: (values: unknown) => values },
    async query(text: string, values: readonly unknown[] = []) {
      if (text.includes("FROM run_rows")) {
        asked.push({ text, values });
        return due;
      }
      if (text.includes("SELECT principal")) return [{ principal: "ann" }];
      if (text.includes("FROM workers WHERE id = $1"))
        return at.gone ? [] : [{ id: "other", lock_key: "1", is_late: false }];
      return [];
    },
    async call(name: string) {
      if (name === "offer_bodies") return at.resumed.splice(0);
      at.taken++;
      const answer = await (left.shift() ?? {});
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const definition = { kind: "work", execute: async () => null };
  const pool: Pool = {
    definitions: new Map([["work", definition]]),
    ...{ offer: offerOf([definition]), concurrency, running: 0, reserved: 0, served: "" },
  };
  const executor = {
    isDraining: false,
    offer: pool.offer,
    poolOf: (kind: string) => (kind === "work" ? pool : undefined),
    loseAll: () => undefined,
    async execute({ id }: { readonly id: string }) {
      pool.running++;
      executed.push(id);
      await new Promise<void>((resolve) => gates.push(resolve));
      pool.running--;
    },
  };
  const served: string[] = [];
  const endpoint = {
    add: () => void served.push("added"),
    remove: () => void served.push("removed"),
    serve: async (kinds: readonly string[]) => void served.push(...kinds),
    serviceOf: (kind: string) => `p.${kind}`,
  };
  const ingress = {
    async send({ service, ...drive }: Drive) {
      expect(service).toBe("p.work");
      sent.push(drive);
      await at.onSend();
      return at.reachable;
    },
  };
  const dispatcher = new RestateDispatcher({
    ...{ database, executor, endpoint, ingress, log: silentLog, leaseMs: 60_000 },
    clock: { now: () => 1_000, learn: async () => undefined },
    news: { tell: (runId: string, about: object) => void told.push([runId, about]) },
  } as unknown as RestateDispatcherOptions);
  dispatcher.serve(pool);
  // Once it is known it looks for what is due.
  await until(() => asked.length > 0);
  await Bun.sleep(1);
  const [atFirst] = asked.splice(0);
  return {
    ...{ atFirst, dispatcher, pool, executor, sent, executed, gates, told, due, asked, at, served },
    async [Symbol.asyncDispose]() {
      for (const open of gates) open();
      await dispatcher.close();
    },
  };
}

test("a drive executes its run until there is nothing to do for it, and another one of it waits for that", async () => {
  await using of = await dispatching([row("r"), row("r"), {}, {}]);
  const [first, second] = [of.dispatcher.drive("work", "r", never), of.dispatcher.drive("work", "r", never)];
  await until(() => of.executed.length === 1);
  expect([of.at.taken, of.dispatcher.isIdle, of.pool.reserved]).toEqual([1, false, 0]);
  of.gates[0]?.();
  await until(() => of.executed.length === 2);
  of.gates[1]?.();
  await Promise.all([first, second]);
  expect([of.at.taken, of.sent, of.dispatcher.isIdle, of.pool.reserved]).toEqual([4, [], true, 0]);
});

test("a drive that nobody waits for any more does not wait for the one before it", async () => {
  await using of = await dispatching([row("r")]);
  void of.dispatcher.drive("work", "r", never);
  await until(() => of.executed.length === 1);
  const gone = new AbortController();
  const second = of.dispatcher.drive("work", "r", gone.signal);
  gone.abort();
  await second;
  await of.dispatcher.drive("work", "r", AbortSignal.abort());
  expect(of.at.taken).toBe(1);
});

test.each([
  ["whose body only others have is asked for again soon", { isElsewhere: true }, { delayMs: 500 }],
  [
    "that sleeps long is asked for once when it wakes",
    { left: 1_000.5, epoch: "7" },
    { delayMs: 1_001, onceAs: "wake-7" },
  ],
])("a run %s, and its drive is over", async (_, answer, about) => {
  await using of = await dispatching([answer]);
  await of.dispatcher.drive("work", "r", never);
  expect([of.sent, of.at.taken, of.pool.reserved]).toEqual([[{ runId: "r", ...about }], 1, 0]);
});

test("a short sleep is waited for here, and so is the end of another worker that executes the run", async () => {
  await using of = await dispatching([{ left: 15 }, { owner: "other" }, row("r"), {}]);
  const began = performance.now();
  const driving = of.dispatcher.drive("work", "r", never);
  await until(() => of.executed.length === 1);
  expect(performance.now() - began).toBeGreaterThanOrEqual(15);
  of.gates[0]?.();
  await driving;
  of.at.gone = false;
  await using watching = await dispatching([{ owner: "other" }, { owner: "other" }, {}]);
  watching.at.gone = false;
  const from = performance.now();
  const watches = watching.dispatcher.drive("work", "r", never);
  await until(() => watching.at.taken === 1);
  await Bun.sleep(5);
  // Nothing of it is executed here meanwhile.
  expect(watching.dispatcher.isIdle).toBe(true);
  await watches;
  expect(performance.now() - from).toBeGreaterThanOrEqual(480);
  expect([watching.at.taken, watching.sent]).toEqual([3, []]);
});

test("what becomes due while its drive looks is looked at again, and what has no drive is asked for", async () => {
  const gate = Promise.withResolvers<Answer>();
  await using of = await dispatching([gate.promise, {}, { left: 900 }, row("r"), {}]);
  const driving = of.dispatcher.drive("work", "r", never);
  await until(() => of.at.taken === 1);
  of.dispatcher.runnable("r");
  of.dispatcher.runnable("r", 5_000);
  gate.resolve({});
  await driving;
  expect([of.at.taken, of.sent, of.asked]).toEqual([2, [], []]);
  // One that waits is woken.
  const began = performance.now();
  const woken = of.dispatcher.drive("work", "r", never);
  await until(() => of.at.taken === 3);
  of.dispatcher.runnable("r", 5_000);
  await Bun.sleep(10);
  expect(of.at.taken).toBe(3);
  of.dispatcher.runnable("r");
  await until(() => of.executed.length === 1);
  expect(performance.now() - began).toBeLessThan(800);
  of.gates[0]?.();
  await woken;
  of.due.push({ id: "r", kind: "work", epoch: "2", due: "9" });
  of.dispatcher.runnable("r");
  await until(() => of.sent.length === 1);
  expect([of.sent, of.asked[0]?.values]).toEqual([[{ runId: "r" }], ["r"]] as never);
  expect(of.asked[0]?.text).toContain("id = $1");
});

test("a place is kept for as long as a run is claimed and executed, and given to who waits for it", async () => {
  await using of = await dispatching([row("1"), new Error("Cut off."), row("2"), {}, {}], { concurrency: 1 });
  const first = of.dispatcher.drive("work", "1", never);
  await until(() => of.executed.length === 1);
  const second = of.dispatcher.drive("work", "2", never);
  await Bun.sleep(5);
  expect([of.at.taken, of.dispatcher.roomFor("work"), of.dispatcher.roomFor("other")]).toEqual([1, 0, 0]);
  // The pool gets new kinds meanwhile, and keeps who waits for it.
  of.dispatcher.serve(of.pool);
  of.gates[0]?.();
  const [one, other] = await Promise.all(
    [first, second].map((drive) =>
      Promise.race([
        drive.then(
          () => "over",
          (error: Error) => error.message,
        ),
        until(() => of.executed.length === 2).then(() => "on"),
      ]),
    ),
  );
  expect([one, other].toSorted()).toEqual(["Cut off.", "on"]);
  expect(of.pool).toMatchObject({ reserved: 0, running: 1 });
});

test("a worker that leaves sends on what it is asked to drive, serves nothing and asks for nothing", async () => {
  await using of = await dispatching([row("r"), {}]);
  const held = of.dispatcher.drive("work", "r", never);
  await until(() => of.executed.length === 1);
  expect([of.dispatcher.serves("work"), of.dispatcher.serves("other")]).toEqual([true, false]);
  of.executor.isDraining = true;
  expect(of.dispatcher.serves("work")).toBe(false);
  await of.dispatcher.drive("work", "late", never);
  await of.dispatcher.drive("other-kind" as "work", "r2", never).catch(() => undefined);
  expect(of.sent[0]).toEqual({ runId: "late" });
  of.gates[0]?.();
  await held;
  expect(of.at.taken).toBe(1);
  // The run it held may have more to do, at another worker.
  expect(of.sent.map(({ runId }) => runId)).toContain("r");
  of.at.reachable = false;
  await expect(of.dispatcher.drive("work", "late", never)).rejects.toMatchObject({ code: "unavailable" });
});

test("runs that waited for what this worker has are told of and asked for, and a sender that fails is not asked further", async () => {
  await using of = await dispatching();
  of.due.push(...["1", "2"].map((id) => ({ id, kind: "work", epoch: "3", due: "9" })));
  of.at.resumed.push({ id: "paused", last: 4 });
  Object.assign(of.pool.offer, { keys: [...of.pool.offer.keys, "another"] });
  of.dispatcher.serve(of.pool);
  await until(() => of.told.length === 1 && of.sent.length >= 4);
  expect(of.told).toEqual([["paused", { last: 4 }]]);
  expect(of.asked.map(({ values }) => values)).toContainEqual(["paused"]);
  const once = of.sent.filter(({ onceAs }) => onceAs !== undefined);
  expect(once.slice(0, 2)).toEqual(["1", "2"].map((runId) => ({ runId, onceAs: "due-3-9" })));
  const sweep = of.asked.find(({ text }) => text.includes("kind = ANY ($1)"));
  expect([String(sweep?.values[0]), sweep?.text.replace(/.*ORDER/s, "ORDER")]).toEqual([
    "work",
    "ORDER BY due LIMIT 500",
  ]);
  of.sent.splice(0);
  of.at.reachable = false;
  of.dispatcher.runnable("some");
  await until(() => of.sent.length > 0);
  await Bun.sleep(2);
  expect(of.sent).toEqual([{ runId: "1" }]);
});

test("what becomes due while its wake-up is asked for is looked at again", async () => {
  await using of = await dispatching([{ left: 5_000, epoch: "1" }, {}]);
  of.at.onSend = () => of.dispatcher.runnable("r");
  await of.dispatcher.drive("work", "r", never);
  expect([of.at.taken, of.sent.length]).toEqual([2, 1]);
});

test("a drive waits five seconds for room, in its principal's line and by its id, and then goes where there may be some", async () => {
  await using of = await dispatching([row("1")], { concurrency: 1 });
  void of.dispatcher.drive("work", "1", never);
  await until(() => of.executed.length === 1);
  using waits = spyOn(Turns.prototype, "wait").mockImplementation(async () => false);
  await of.dispatcher.drive("work", "2", never);
  expect([waits.mock.calls, of.sent]).toEqual([[[5_000, "ann", "2"]], [{ runId: "2" }]]);
});

test("who waits for room at a worker that leaves is sent on as soon as it says so", async () => {
  await using of = await dispatching([row("1"), {}], { concurrency: 1 });
  const first = of.dispatcher.drive("work", "1", never);
  await until(() => of.executed.length === 1);
  const second = of.dispatcher.drive("work", "2", never);
  await Bun.sleep(5);
  of.executor.isDraining = true;
  const began = performance.now();
  of.gates[0]?.();
  await Promise.all([first, second]);
  // Long before its patience ends.
  expect(performance.now() - began).toBeLessThan(4_000);
  expect(of.sent.map(({ runId }) => runId).toSorted()).toEqual(["1", "2"]);
});

test("a worker asks at first for all that is due, and is not closed before who it asks for has been asked for", async () => {
  const of = await dispatching();
  expect(of.atFirst?.text).toContain("due <= now_ms() - 0 ");
  of.due.push({ id: "r", kind: "work", epoch: "1", due: "9" });
  const gate = Promise.withResolvers<void>();
  of.at.onSend = () => gate.promise;
  of.dispatcher.runnable("r");
  await until(() => of.sent.length === 1);
  let isClosed = false;
  const closing = of.dispatcher.close().then(() => {
    isClosed = true;
  });
  await Bun.sleep(5);
  expect(isClosed).toBe(false);
  gate.resolve();
  await closing;
});

test("a worker that closes waits for nothing that can go on elsewhere, and is served at its endpoint no more", async () => {
  using every = spyOn(globalThis, "setInterval");
  using cleared = spyOn(globalThis, "clearInterval");
  const of = await dispatching([{ left: 1_000, epoch: "1" }]);
  expect(of.served.slice(0, 2)).toEqual(["added", "work"]);
  const asleep = of.dispatcher.drive("work", "asleep", never);
  await until(() => of.at.taken === 1);
  of.pool.running = 2;
  const waiting = of.dispatcher.drive("work", "waiting", never);
  await Bun.sleep(5);
  const began = performance.now();
  await of.dispatcher.close();
  await Promise.all([asleep, waiting]);
  expect(performance.now() - began).toBeLessThan(900);
  expect(of.sent.map(({ runId }) => runId).toSorted()).toEqual(["asleep", "waiting"]);
  expect(of.served.at(-1)).toBe("removed");
  expect(of.dispatcher.serves("work")).toBe(false);
  // It looked all the while whether the database answers, and for what is due.
  expect(every.mock.calls.map(([, ms]) => ms)).toEqual([500, 2_000]);
  const ended = cleared.mock.calls.map(([timer]): unknown => timer);
  for (const { value } of every.mock.results) expect(ended).toContain(value);
});
