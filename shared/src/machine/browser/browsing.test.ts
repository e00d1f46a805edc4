import { afterEach, beforeEach, expect, jest, spyOn, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Page, Route } from "playwright";
import type { Tab } from "./browser.ts";
import { openBrowsing } from "./browsing.ts";
import { createNotices } from "./notices.ts";
import * as places from "./surroundings.ts";

/** One context with one tab, and everything that was done with it. */
function surroundingsForTest(name: string) {
  const done: string[] = [];
  const state = { closed: false, hangs: false };
  const page = Object.assign(new EventEmitter(), {
    name,
    setDefaultTimeout: () => undefined,
    isClosed: () => state.closed,
    evaluate: () => Promise.reject(new Error("It does not answer.")),
    context: () => ({ browser: () => undefined }),
  }) as unknown as Page;
  const tab: Tab = { id: 7, page };
  const log =
    (what: string) =>
    (...args: unknown[]) =>
      void done.push([what, ...args.map(String)].join(" "));
  const tabs = {
    ready: async () => void (state.hangs && (await new Promise(() => undefined))),
    active: () => tab,
    all: () => [tab],
    of: () => (state.closed ? undefined : tab),
    close: () => (state.hangs ? new Promise<void>(() => undefined) : Promise.resolve(log("close tab")(7))),
    activate: async (id: number) => void log("activate")(id),
  };
  const silent = new Set<Page>();
  const found = {
    context: { name, storageState: async (how: object) => ({ how: JSON.stringify(how) }) },
    routes: { route: async (...args: unknown[]) => log("route")(args[0]) },
    hops: {
      add: async () => log("guard")(),
      follows: async () => name === "second",
    },
    tabs,
    dialogs: {
      settle: async () => undefined,
      opened: () => new Promise(() => undefined),
      calm: () => undefined,
      open: () => ({ kind: "confirm", message: name }),
    },
    guard: { left: async () => undefined },
    downloads: undefined,
    patience: {
      maxMs: 1,
      loading: () => undefined,
      answered: () => undefined,
      isAsking: () => false,
      leavesOpen: () => !silent.has(page) && silent.add(page) !== undefined,
    },
    sent: { anew: async (of: Page, how: string) => ({ method: how, url: `https://${name}.example/${of === page}` }) },
    close: async () => log("closed")(),
  };
  return { found, done, state, page };
}

let opened: ReturnType<typeof surroundingsForTest>[] = [];
let fails = false;
let opening: { mockRestore(): void };
let killed = 0;
beforeEach(() => {
  [opened, fails, killed] = [[], false, 0];
  opening = spyOn(places, "openSurroundings").mockImplementation((async () => {
    if (fails) throw new Error("The browser is gone.");
    const one = surroundingsForTest(["first", "second"][opened.length] ?? "third");
    opened.push(one);
    return one.found;
  }) as never);
});
afterEach(() => opening.mockRestore());

const begin = (more: object = {}) =>
  openBrowsing({ running: { kill: () => void killed++ }, notices: createNotices(), ...more } as never);
const signal = new AbortController().signal;

/** What becomes of a page that twice does not answer when an act took too long. */
async function silence(browsing: Awaited<ReturnType<typeof begin>>) {
  const late = Object.assign(new Error("Timeout 10ms exceeded."), { name: "TimeoutError" });
  const act = () => browsing.act(() => Promise.reject(late), { signal, timeoutMs: 10 });
  await expect(act()).rejects.toThrow("too busy to answer, and stays open");
  jest.useFakeTimers();
  try {
    let said: string | undefined;
    void act().catch(({ message }) => {
      said = message;
    });
    for (let turn = 0; turn < 100 && said === undefined; turn++) {
      for (let step = 0; step < 20; step++) await Promise.resolve();
      jest.advanceTimersByTime(100);
    }
    return said;
  } finally {
    jest.useRealTimers();
  }
}

test("a page that does not recover is closed; one that cannot be is left behind with its context, and what guarded it guards the next", async () => {
  const plain = await begin();
  expect(await silence(plain)).toEndWith("The page does not respond any more. Tab 7 was closed.");
  expect(opened[0]?.done).toEqual(["close tab 7"]);

  opened = [];
  const browsing = await begin();
  await browsing.route(/^https?:/, async (_: Route) => undefined);
  await browsing.guard(() => true);
  const [first] = opened;
  expect(first?.done).toEqual(["route /^https?:/", "guard"]);
  if (first !== undefined) {
    const { tabs } = first.found;
    tabs.close = () => new Promise<void>(() => undefined);
  }
  expect(await silence(browsing)).toEndWith(
    "Everything was closed and begun anew, without the former tabs and cookies.",
  );
  expect(opened.map(({ done }) => done)).toEqual([
    ["route /^https?:/", "guard", "closed"],
    ["route /^https?:/", "guard"],
  ]);
  expect([browsing.dialog()?.message, await browsing.follows({} as never), killed]).toEqual(["second", true, 0]);
  expect(await browsing.resends("back")).toEqual({ method: "back", url: "https://second.example/true" });
  await browsing.close();
  expect(opened[1]?.done.at(-1)).toBe("closed");
});

test("a browser that opens no other context is ended for all", async () => {
  const browsing = await begin();
  const [first] = opened;
  if (first !== undefined) first.found.tabs.close = () => new Promise<void>(() => undefined);
  fails = true;
  expect(await silence(browsing)).toEndWith("Nor does the browser, which is ended.");
  expect([killed, opened[0]?.done]).toEqual([1, []]);
});

test("while something is done it is not idle, however long that takes, and it is since its end", async () => {
  const browsing = await begin();
  const now = performance.now;
  try {
    performance.now = () => 1_000;
    const work = Promise.withResolvers<string>();
    const acting = browsing.act(() => work.promise, { signal, timeoutMs: 60_000 });
    performance.now = () => 5_000;
    expect([browsing.idleSince(), browsing.usedAt()]).toEqual([undefined, 1_000]);
    const failing = browsing.act(() => Promise.reject(new Error("no")), { signal, timeoutMs: 60_000 });
    await expect(failing).rejects.toThrow("no");
    expect(browsing.idleSince()).toBeUndefined();
    performance.now = () => 9_000;
    work.resolve("done");
    expect(await acting).toBe("done");
    expect([browsing.idleSince(), browsing.usedAt()]).toEqual([9_000, 9_000]);
    performance.now = () => 12_000;
    browsing.tabs();
    expect(browsing.idleSince()).toBe(12_000);
    // What is only told or saved is no use of it.
    performance.now = () => 15_000;
    browsing.tell("x");
    expect(browsing.notices()).toEqual(["x"]);
    expect(await browsing.storage()).toEqual({ how: '{"indexedDB":true}' } as never);
    expect(browsing.idleSince()).toBe(12_000);
  } finally {
    performance.now = now;
  }
});

test("one that is lost refuses every use with the first reason, also when it is closed after that", async () => {
  const browsing = await begin();
  browsing.lose("It was closed after 600 s.");
  browsing.lose("Another reason.");
  await browsing.close();
  expect(opened[0]?.done).toEqual(["closed"]);
  const lost = { code: "unavailable", message: "It was closed after 600 s." };
  const used = async (use: () => unknown) => await use();
  for (const use of [
    () => browsing.tabs(),
    () => browsing.active(),
    () => browsing.context,
    () => browsing.dialog(),
    () => browsing.loading(),
    () => browsing.openTab(),
    () => browsing.activate(7),
    () => browsing.closeTab(7),
    () => browsing.act(async () => 1, { signal, timeoutMs: 1 }),
  ])
    await expect(used(use)).rejects.toMatchObject(lost);
  const closed = await begin();
  await closed.close();
  expect(() => closed.tabs()).toThrow("The browser was closed.");
});

test("who cancels does not wait for a tab", async () => {
  const browsing = await begin();
  if (opened[0] !== undefined) opened[0].state.hangs = true;
  const control = new AbortController();
  const acting = browsing.act(async () => 1, { signal: control.signal, timeoutMs: 60_000 });
  const reason = new Error("enough");
  control.abort(reason);
  expect(await acting.catch((error: unknown) => error)).toBe(reason);
  expect(browsing.idleSince()).toBeDefined();
});

test("what a site shows may be its user's where the browser or a profile has something of it", async () => {
  const url = new URL("https://shop.example/");
  const profile = { state: () => ({}), hasSomethingOf: ({ host }: URL) => host === "shop.example" };
  const kept = async (more: object) => (await begin(more)).hasKept(url);
  expect(await kept({})).toBe(false);
  expect(await kept({ profile })).toBe(true);
  expect(await kept({ profile: { ...profile, hasSomethingOf: () => false } })).toBe(false);
  const running = { own: {}, kill: () => undefined };
  expect(await kept({ running, workspace: { principal: "local" } })).toBe(true);
  expect(await kept({ running, workspace: { principal: "ann" } })).toBe(false);
});
