import { expect, mock, spyOn, test } from "bun:test";
import { until } from "../../testing/durable/until.ts";
import { Live } from "../live.ts";
import type { HeldConversations } from "./conversations.ts";
import { Database } from "./database.ts";
import type { Dispatcher, DispatcherDeps } from "./dispatch/dispatcher.ts";
import type { Pool } from "./dispatch/executor.ts";
import { News } from "./news.ts";
import { engineOn, type PostgresEngineOptions } from "./postgres-engine.ts";
import { SharedProgress } from "./shared-progress.ts";

/** An engine whose database is nowhere, and what was asked of its dispatcher. */
function wired(options: Partial<PostgresEngineOptions> = {}) {
  const order: string[] = [];
  const served: Pool[] = [];
  let given: DispatcherDeps | undefined;
  const state = { isIdle: true };
  const dispatcher: Dispatcher = {
    owner: "me",
    get isIdle() {
      order.push("idle?");
      return state.isIdle;
    },
    reserve: () => undefined,
    serve: (pool) => void served.push(pool),
    runnable: () => undefined,
    news: () => void order.push("news"),
    async close() {
      order.push("dispatcher closed");
    },
  };
  const engine = engineOn({ url: "postgres://postgres@127.0.0.1:1/gone", ...options }, (deps) => {
    given = deps;
    return dispatcher;
  });
  if (given === undefined) throw new Error("The dispatcher is made with the engine.");
  return { engine, deps: given, order, served, state };
}

type PoolOptions = { readonly max: number; readonly connectionTimeout: number };

test("a process has as many connections as it may for its statements, and waits five seconds for each", async () => {
  for (const [options, most] of [
    [{}, 10],
    [{ connections: 3 }, 3],
  ] as const) {
    const { engine, deps } = wired(options);
    const { max, connectionTimeout } = deps.database.sql.options as unknown as PoolOptions;
    expect([max, connectionTimeout]).toEqual([most, 5_000]);
    await engine.close();
  }
});

test("a worker may hang for fifteen seconds, or as long as it is said, and the schema has its usual name, or another", async () => {
  const usual = wired();
  expect([usual.deps.leaseMs, usual.deps.database.schema]).toEqual([15_000, "manyhands"]);
  const other = wired({ leaseMs: 7, schema: "other" });
  expect([other.deps.leaseMs, other.deps.database.schema]).toEqual([7, "other"]);
  for (const { engine } of [usual, other]) await engine.close();
});

test("kinds share a pool of sixty-four places, unless they have one of their own, and each is served", async () => {
  const { engine, served } = wired();
  const kind = (name: string) => [{ kind: name, execute: async () => null }];
  engine.work(kind("a"));
  engine.work(kind("b"), { concurrency: 3, dedicatedPool: true });
  engine.work(kind("c"), { concurrency: 9 });
  const places = served.map(({ definitions, concurrency }) => [[...definitions.keys()].join(""), concurrency]);
  expect(places).toEqual([
    ["ac", 9],
    ["b", 3],
    ["ac", 9],
  ]);
  const alone = wired();
  alone.engine.work(kind("a"));
  expect(alone.served[0]?.concurrency).toBe(64);
  for (const one of [engine, alone.engine]) {
    await one.close();
    expect(() => one.work(kind("d"))).toThrow("This engine is closed.");
  }
});

test("an engine is closed once, in order: nothing is stored again, what is claimed comes to rest, its place is given up, then who reads ends and what was told last is sent", async () => {
  const { engine, order, state } = wired();
  state.isIdle = false;
  if (engine.conversations === undefined) throw new Error("An engine for several machines has conversations.");
  const held = spyOn(engine.conversations as unknown as { close(): void }, "close");
  held.mockImplementation(() => void order.push("conversations closed"));
  const others: readonly { readonly prototype: { close(): unknown } }[] = [Live, SharedProgress, News, Database];
  for (const one of others) {
    const { close } = one.prototype;
    spyOn(one.prototype, "close").mockImplementation(function (this: unknown) {
      order.push(`${(one as { name?: string }).name} closed`);
      return close.call(this);
    });
  }
  const closing = engine.close();
  await Bun.sleep(20);
  expect([order[0], order.includes("dispatcher closed")]).toEqual(["conversations closed", false]);
  state.isIdle = true;
  await Promise.all([closing, engine.close()]);
  const whole = ["conversations", "dispatcher", "Live", "SharedProgress", "News", "Database"];
  const closed = () => order.filter((what) => what !== "idle?");
  expect(closed()).toEqual(whole.map((what) => `${what} closed`));
  await engine.close();
  expect(closed()).toHaveLength(whole.length);
  mock.restore();
  await expect(engine.get("r")).rejects.toMatchObject({ code: "unavailable" });
});

test("who waits to come to rest is waited for no longer than was said, or five seconds", async () => {
  let now = 0;
  for (const [options, made, atMost] of [
    [{ graceMs: 300 }, { stopMs: 700 }, 300 + 700],
    [undefined, { stopMs: 700 }, 5_000 + 700],
    [undefined, {}, 5_000 + 5_000],
  ] as const) {
    const { engine, state } = wired(made);
    state.isIdle = false;
    // Each look at the time is fifty milliseconds later.
    using clock = spyOn(performance, "now").mockImplementation(() => (now += 50));
    using asleep = spyOn(Bun, "sleep").mockImplementation(async () => undefined);
    await engine.close(options);
    clock.mockRestore();
    // The runs that are left are waited for as long as a step may take to stop, and a second.
    const waitedMs = asleep.mock.calls.filter(([ms]) => ms === 5).length * 50;
    expect(waitedMs).toBeWithin(atMost + 1_000 - 200, atMost + 1_001);
  }
});

test("what nobody told is looked for every two seconds, and what stays silent, or as often as it is said, until the engine is closed", async () => {
  const [every, cleared] = [spyOn(globalThis, "setInterval"), spyOn(globalThis, "clearInterval")];
  for (const options of [{}, { pollMs: 70, silenceMs: 900 }]) {
    const { engine } = wired(options);
    engine.work([{ kind: "a", execute: async () => null }]);
    await engine.close();
  }
  const periods = every.mock.calls.map(([, ms]) => ms);
  const begun: unknown[] = every.mock.results.map(({ value }) => value);
  const ended = cleared.mock.calls.map(([timer]): unknown => timer);
  for (const spy of [every, cleared]) spy.mockRestore();
  expect([periods, begun.every((timer) => ended.includes(timer))]).toEqual([[2_000, 2_000, 90, 70], true]);
});

test("that a conversation is given up here is told to the others, who may have its runs now", async () => {
  const { engine, deps } = wired();
  const sent: unknown[] = [];
  spyOn(deps.database, "query").mockImplementation(async (text, values = []) => {
    if (text.includes("pg_notify")) sent.push(JSON.parse(String(values[1])));
    return (text.includes("hold_conversation") ? [{ answer: '{"epoch":1}' }] : []) as never;
  });
  const held = engine.conversations as HeldConversations;
  const row = { kind: "k", principal: "p", context_id: "c" };
  held.enter(row);
  await held.hold({ kind: "k", principal: "p", contextId: "c", folder: "f" });
  await held.leave(row);
  await until(() => sent.length > 0, 5_000);
  expect(sent).toEqual([{ runIds: [], isClaimable: true }]);
  await engine.close();
});

test("an engine whose database is away says so, and what of it", async () => {
  const { engine } = wired();
  expect(engine.health()).toEqual({ ok: true });
  await expect(engine.get("r")).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(engine.health()).toMatchObject({ ok: false, reason: expect.stringContaining("The run store is unavailable") });
  await engine.close();
});
