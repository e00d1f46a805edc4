import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { RunView } from "manyhands/internal/runs/run-view";
import type { KnownAgentState } from "../registry/known-agent.ts";
import { type Change, changeFrames } from "./change-stream.ts";

type Filter = { readonly updatedSince?: number; readonly limit?: number };
type Stored = Pick<RunRecord, "id" | "updatedAt" | "lastEvent"> & { readonly status: string };

const stored = (id: string, updatedAt: number, over: Partial<Stored> = {}): Stored => ({
  ...{ id, updatedAt, lastEvent: 1, status: "running", ...over },
});

/** Changes over runs and agents that a test alters; `news` says that a run has changed. */
function changesForTest({ gapMs = 0, most = 100 } = {}) {
  const world = {
    runs: [] as Stored[],
    agents: [] as KnownAgentState[],
    looks: 0,
    released: false,
    onLook: (): void => undefined,
  };
  const filters: Filter[] = [];
  const stop = new AbortController();
  const untold: (() => void)[] = [];
  let over = false;
  const news = () => {
    for (const tell of untold.splice(0)) tell();
  };
  const changes = (): AsyncIterableIterator<void> => ({
    [Symbol.asyncIterator]: changes,
    async next() {
      if (!over) await new Promise<void>((resolve) => untold.push(resolve));
      return { done: over, value: undefined };
    },
    async return() {
      world.released = true;
      return { done: true, value: undefined };
    },
  });
  const runs = {
    async list(filter: Filter, principal: string) {
      filters.push({ ...filter });
      expect(principal).toBe("ann");
      const found = world.runs
        .filter(({ updatedAt }) => updatedAt >= (filter.updatedSince ?? 0))
        .toSorted((a, b) => b.updatedAt - a.updatedAt);
      const page = found.slice(0, most) as unknown as RunRecord[];
      world.onLook();
      return { runs: page, ...(found.length > most && { nextCursor: "on" }) };
    },
    view: async (run: RunRecord) => ({ ...run, contextId: "c" }) as unknown as RunView,
  };
  const registry = {
    list() {
      world.looks++;
      return world.agents;
    },
  };
  const engine = { changes } as Pick<Engine, "changes">;
  const pace = { gapMs, agentsEveryMs: 1, signal: stop.signal };
  const frames = changeFrames({ engine, runs, registry }, "ann", pace);
  return {
    ...{ world, filters, frames, news },
    stop: () => stop.abort(),
    end() {
      over = true;
      news();
    },
    /** What is told next. */
    async next(): Promise<Change | undefined> {
      const { value } = await frames.next();
      expect(value === undefined || value.length === 1).toBe(true);
      return value?.[0]?.data as Change | undefined;
    },
  };
}

test("a run is told when its events or its state change, as it is then, and never twice", async () => {
  const { world, news, next, filters } = changesForTest();
  world.runs = [stored("old", 9_000), stored("first", 10_000)];
  expect(await next()).toEqual({ runs: [] });
  expect(filters).toEqual([{ limit: 100, countAtMost: 0 } as Filter]);
  const told = async (...now: Stored[]) => {
    world.runs = now;
    const change = next();
    news();
    return (await change)?.runs.map(({ id, contextId, status, lastEvent }) => [id, contextId, status, lastEvent]);
  };
  const old = stored("old", 9_000);
  expect(await told(old, stored("first", 10_000, { status: "waiting" }))).toEqual([["first", "c", "waiting", 1]]);
  const later = stored("first", 11_000, { status: "waiting", lastEvent: 2 });
  expect(await told(old, later)).toEqual([["first", "c", "waiting", 2]]);
  expect(await told(old, later, stored("new", 12_000))).toEqual([["new", "c", "running", 1]]);
});

test("a run whose change is seen only after that of a later one is told nevertheless", async () => {
  const { world, news, next } = changesForTest();
  world.runs = [stored("first", 10_000)];
  await next();
  for (const one of [stored("later", 12_000), stored("overtaken", 7_000)]) {
    world.runs.push(one);
    const change = next();
    news();
    expect((await change)?.runs.map(({ id }) => id)).toEqual([one.id]);
  }
});

test("what changes after the clock was set back is told, although a run is from the future then", async () => {
  const { world, news, next } = changesForTest();
  world.runs = [stored("later", Date.now() + 3_600_000)];
  await next();
  world.runs.push(stored("now", Date.now()));
  const change = next();
  news();
  expect((await change)?.runs.map(({ id }) => id)).toEqual(["now"]);
});

test("a reader hears that more runs changed than are listed, and of a long list at first nothing", async () => {
  const { world, news, next } = changesForTest({ most: 1 });
  world.runs = [stored("a", 10_000), stored("b", 10_001)];
  expect(await next()).toEqual({ runs: [] });
  world.runs = ["a", "b"].map((id, at) => stored(id, 20_000 + at, { lastEvent: 2 }));
  const change = next();
  news();
  expect(await change).toMatchObject({ runs: [{ id: "b" }], more: true });
});

test("whatever callers see of an agent is told when it changes; that it was looked at again is not", async () => {
  const { world, next } = changesForTest();
  const agent: KnownAgentState = {
    ...{ name: "maps", url: "http://maps", source: "configured", health: "up", breaker: "closed", changes: [] },
  };
  const changed: KnownAgentState = { ...agent, changes: [{ at: 1, what: ["version was 1, is 2"] }] };
  await next();
  const states: KnownAgentState[] = [
    agent,
    { ...agent, health: "down" },
    { ...agent, health: "down", reason: "It is away." },
    { ...agent, health: "down", reason: "It is away.", breaker: "open" },
    agent,
    changed,
    { ...changed, url: "http://elsewhere" },
  ];
  for (const state of states) {
    world.agents = [state];
    expect([state, await next()]).toEqual([state, { runs: [], agents: true }]);
  }
  world.agents = [{ ...changed, url: "http://elsewhere", checkedAt: 2 }];
  const change = next();
  // Many looks go by without a word.
  for (let look = 0; look < 5; look++) await Bun.sleep(2);
  world.agents = [];
  expect(await change).toEqual({ runs: [], agents: true });
});

test("two changes are told with the gap between them, the first at once", async () => {
  const gapMs = 40;
  const { world, news, next } = changesForTest({ gapMs });
  await next();
  const told: number[] = [];
  for (const id of ["one", "two"]) {
    world.runs.push(stored(id, 1_000));
    const change = next();
    news();
    await change;
    told.push(performance.now());
  }
  const [first = 0, second = 0] = told;
  expect(second - first).toBeGreaterThanOrEqual(gapMs - 2);
});

test("a reader that goes, and an engine that closes, end the stream, and the changes are let go", async () => {
  for (const leave of ["stop", "end"] as const) {
    const changes = changesForTest();
    await changes.next();
    const last = changes.frames.next();
    changes[leave]();
    expect([leave, await last, changes.world.released]).toEqual([leave, { done: true, value: undefined }, true]);
  }
});

test("what changes while it is looked is told with the next look, the first one included", async () => {
  const { world, news, next } = changesForTest();
  /** A run that is stored as soon as the look has read what there is. */
  const after = (id: string) => () => {
    world.onLook = () => undefined;
    world.runs.push(stored(id, 10_000));
    news();
  };
  world.onLook = after("during the first");
  await next();
  world.onLook = after("during the second");
  const ids = async () => (await next())?.runs.map(({ id }) => id);
  expect([await ids(), await ids()]).toEqual([["during the first"], ["during the second"]]);
});

test("a reader for whom nothing changes costs no memory, however long it listens", async () => {
  const { world, next, stop } = changesForTest();
  await next();
  const change = next();
  const objectsAfter = async (looks: number) => {
    while (world.looks < looks) await Bun.sleep(5);
    Bun.gc(true);
    return heapStats().objectCount;
  };
  const [before, after] = [await objectsAfter(300), await objectsAfter(1_300)];
  expect(after - before).toBeLessThan(1_000);
  stop();
  expect(await change).toBeUndefined();
});
