import { afterEach, beforeEach, expect, jest, spyOn, test } from "bun:test";
import type { Workspace } from "../../core/workspace.ts";
import { type BrowserSettings, browserDefaults } from "../browser-process/settings.ts";
import type { OpenProfile, ProfileStore } from "../browser-profile/profile-store.ts";
import * as browsings from "./browsing.ts";
import { createBrowsers } from "./create-browsers.ts";
import * as renderers from "./render-page.ts";
import * as shares from "./shared-browser.ts";
import type { SurroundingsDeps } from "./surroundings.ts";

/** A conversation's browsing that is used when told, and everything that was done with it. */
function browsingForTest(deps: SurroundingsDeps) {
  const state = { usedAt: 0, acts: false };
  return {
    ...{ deps, state, lost: [] as string[], closed: 0 },
    id: deps.nextId(),
    idleSince: () => (state.acts ? undefined : state.usedAt),
    usedAt: () => state.usedAt,
    notices: () => deps.notices.take(),
    storage: async () => ({ cookies: [], origins: [] }),
    lose(sentence: string) {
      this.lost.push(sentence);
    },
    async close() {
      this.closed++;
      log.push("closed");
    },
  };
}

let log: string[] = [];
let opened: ReturnType<typeof browsingForTest>[] = [];
let opening: (deps: SurroundingsDeps) => Promise<unknown>;
let onLost: (why: string) => void = () => undefined;
let busy = false;
let at = 0;
const now = performance.now;
let spies: { mockRestore(): void }[] = [];
beforeEach(() => {
  [log, opened, busy, at] = [[], [], false, 0];
  opening = async (deps) => {
    const one = browsingForTest(deps);
    one.state.usedAt = at;
    opened.push(one);
    return one;
  };
  performance.now = () => at;
  jest.useFakeTimers();
  const shared = {
    get: async () => ({ running: "running", proxy: "proxy" }),
    rest: async () => void log.push("rested"),
    describe: () => ({ kind: "chromium" }),
    close: async () => void log.push("shared closed"),
  };
  spies = [
    spyOn(shares, "shareBrowser").mockImplementation((_, lost) => {
      onLost = lost;
      return shared as never;
    }),
    spyOn(browsings, "openBrowsing").mockImplementation(((deps: SurroundingsDeps) => opening(deps)) as never),
    spyOn(renderers, "createPageRenderer").mockImplementation(() => ({ busy: () => busy }) as never),
  ];
});
afterEach(() => {
  jest.useRealTimers();
  performance.now = now;
  for (const one of spies) one.mockRestore();
});

const settle = async () => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
};
const pass = async (ms: number) => {
  at += ms;
  jest.advanceTimersByTime(ms);
  await settle();
};
const place = (root: string) => ({ root, principal: "ann", metaRoot: `${root}/meta` }) as Workspace;
const { signal } = new AbortController();
const start = (changes: Partial<BrowserSettings> = {}) =>
  createBrowsers({
    ...{ ...browserDefaults, folder: "/nonexistent", policy: { allow: [], deny: [], only: [] } },
    ...{ idleMs: 1_000, contexts: 2, ...changes },
  });

test("a conversation has one browsing, which is opened once for all who ask, with its own folder and settings", async () => {
  const browsers = start();
  const [one, same, other] = [place("/a"), place("/a"), place("/b")].map((root) => browsers.open(root, signal));
  expect(browsers.peek(place("/a"))).toBeUndefined();
  expect([(await one) === (await same), (await one) === (await other), opened.length]).toEqual([true, false, 2]);
  expect(browsers.peek(place("/a"))).toBe(await (one as never));
  expect(opened.map(({ deps }) => [deps.workspace?.root, deps.running, deps.proxy, deps.settings.contexts])).toEqual([
    ["/a", "running", "proxy", 2],
    ["/b", "running", "proxy", 2],
  ] as never);
  await browsers.close();
});

test("what is idle for too long is closed and told why, and what is used, opened or rendered is not", async () => {
  const browsers = start();
  await browsers.open(place("/a"), signal);
  await browsers.open(place("/b"), signal);
  const [a, b] = opened as [(typeof opened)[0], (typeof opened)[0]];
  b.state.acts = true;
  await pass(1_000);
  expect([a.closed, b.closed]).toEqual([0, 0]);
  await pass(1_000);
  const why = "The tabs, cookies and logins were closed after 1 s without use.";
  expect([a.lost, a.closed, b.lost, b.closed]).toEqual([[why], 1, [], 0]);
  expect([browsers.peek(place("/a")), log.includes("rested")]).toEqual([undefined, false]);
  // One that is still opening is not idle.
  const slow = Promise.withResolvers<void>();
  const { notices } = opened[0]?.deps ?? {};
  opening = async (deps) => {
    await slow.promise;
    return browsingForTest(deps);
  };
  const again = browsers.open(place("/a"), signal);
  await pass(5_000);
  expect(browsers.peek(place("/a"))).toBeUndefined();
  slow.resolve();
  const browsing = await again;
  expect([browsing.notices(), notices?.take()]).toEqual([[why], []]);
  expect((browsing as never as { id: number }).id).toBe(2);
  await browsers.close();
});

test("a conversation whose task has not ended keeps its tabs, for a day at most, unless nobody can say so", async () => {
  let working = true;
  const isAtWork = async ({ root }: Workspace) => {
    if (root === "/c") throw new Error("no database");
    return root === "/a" && working;
  };
  const browsers = start({ isAtWork, contexts: 3 });
  for (const root of ["/a", "/b", "/c"]) await browsers.open(place(root), signal);
  for (let tick = 0; tick < 3; tick++) await pass(1_000);
  expect(opened.map(({ closed }) => closed)).toEqual([0, 1, 1]);
  working = false;
  await pass(1_000);
  expect([opened[0]?.closed, opened[0]?.lost]).toEqual([
    1,
    ["The tabs, cookies and logins were closed after 1 s without use."],
  ]);
  working = true;
  await browsers.open(place("/a"), signal);
  at += 24 * 60 * 60 * 1000;
  await pass(1_000);
  expect(opened.at(-1)?.lost).toEqual(["The tabs, cookies and logins were closed after 86400 s without use."]);
  await browsers.close();
});

test("the browser rests once no conversation and no page that is rendered needs it", async () => {
  const browsers = start();
  busy = true;
  await pass(1_000);
  expect(log).toEqual([]);
  busy = false;
  await browsers.open(place("/a"), signal);
  await pass(900);
  expect(log).toEqual([]);
  await browsers.release(place("/a"));
  await pass(1_000);
  expect(log).toEqual(["closed", "rested"]);
  await browsers.close();
  await pass(9_000);
  log = [];
  await pass(9_000);
  expect(log).toEqual([]);
});

test("one conversation more closes the one idle longest, never one that is used; its tabs go on counting", async () => {
  const browsers = start({ idleMs: 1_000_000 });
  for (const root of ["/a", "/b"]) {
    await browsers.open(place(root), signal);
    at += 10;
  }
  const [a, b] = opened as [(typeof opened)[0], (typeof opened)[0]];
  a.state.acts = true;
  await browsers.open(place("/c"), signal);
  const why = "The tabs, cookies and logins of this conversation were closed to make room for others.";
  expect([a.closed, b.lost, browsers.peek(place("/c")) !== undefined]).toEqual([0, [why], true]);
  a.state.acts = false;
  at += 10;
  for (const one of opened) one.state.usedAt = at;
  a.state.usedAt = at + 5;
  const again = (await browsers.open(place("/b"), signal)) as never as { id: number; notices(): string[] };
  expect([again.id, again.notices(), opened[2]?.lost]).toEqual([2, [why], [why]]);
  await browsers.release(place("/b"));
  expect(opened[3]?.lost).toEqual(["The browser was closed."]);
  expect((await browsers.open(place("/b"), signal)).notices()).toEqual([]);
  await browsers.close();
  expect(opened.map(({ closed }) => closed)).toEqual([1, 1, 1, 1, 1]);
  expect(log.at(-1)).toBe("shared closed");
});

test("to make room one without a task is closed before one whose task waits, and that only if there is no other", async () => {
  const isAtWork = async ({ root }: Workspace) => {
    await settle();
    return root === "/a" || root === "/d";
  };
  const browsers = start({ isAtWork, idleMs: 1_000_000 });
  for (const root of ["/a", "/b"]) {
    await browsers.open(place(root), signal);
    at += 10;
  }
  await browsers.open(place("/c"), signal);
  expect(opened.map(({ closed }) => closed)).toEqual([0, 1, 0]);
  // Two that come at once close two.
  const both = [browsers.open(place("/d"), signal), browsers.open(place("/e"), signal)];
  await Promise.all(both);
  expect(opened.map(({ closed }) => closed)).toEqual([1, 1, 1, 0, 0]);
  await browsers.close();
});

test("a browser that ended takes every conversation's tabs, and each is told with its next use", async () => {
  const browsers = start();
  for (const root of ["/a", "/b"]) await browsers.open(place(root), signal);
  onLost("The browser crashed.");
  await settle();
  expect(opened.map(({ lost, closed }) => [lost, closed])).toEqual([
    [["The browser crashed."], 1],
    [["The browser crashed."], 1],
  ]);
  expect((await browsers.open(place("/b"), signal)).notices()).toEqual(["The browser crashed."]);
  await browsers.close();
});

test("one that could not be opened is tried again, and who cancels does not wait for it", async () => {
  const browsers = start();
  const works = opening;
  opening = () => Promise.reject(new Error("no display"));
  await expect(browsers.open(place("/a"), signal)).rejects.toThrow("no display");
  opening = works;
  const control = new AbortController();
  const waiting = browsers.open(place("/a"), control.signal);
  const reason = new Error("enough");
  control.abort(reason);
  expect(await waiting.catch((error: unknown) => error)).toBe(reason);
  await settle();
  expect([browsers.peek(place("/a")) !== undefined, opened.length]).toEqual([true, 1]);
  const late = browsers.open(place("/b"), AbortSignal.abort(reason));
  expect(await late.catch((error: unknown) => error)).toBe(reason);
  await settle();
  expect([browsers.peek(place("/b")), opened.length]).toEqual([undefined, 1]);
  await browsers.close();
});

/** A profile that one conversation has, and what was done with it. */
function profileForTest() {
  const profile: OpenProfile = {
    state: { cookies: [], origins: [] },
    isKept: true,
    save: async () => log.push("saved") > 0,
    renew: async () => true,
    release: async () => void log.push("profile released"),
  };
  return { name: "main", store: { open: async () => profile } as unknown as ProfileStore, kept: profile };
}

test("a profile is stored and let go before its browsing closes, also of one that could not be opened", async () => {
  const { kept, ...profile } = profileForTest();
  const browsers = start({ profile });
  await browsers.open(place("/a"), signal);
  const [a] = opened;
  expect(a?.deps.profile?.state()).toEqual(kept.state);
  if (a !== undefined) a.state.usedAt = 5;
  await browsers.release(place("/a"));
  expect(log).toEqual(["saved", "profile released", "closed"]);
  log = [];
  opening = () => Promise.reject(new Error("no display"));
  await expect(browsers.open(place("/a"), signal)).rejects.toThrow("no display");
  expect(log).toEqual(["profile released"]);
  await browsers.close();
});

test("a profile that was taken from a conversation closes its browsing, and not the one it has by then", async () => {
  const { kept, ...profile } = profileForTest();
  const browsers = start({ profile, idleMs: 1_000_000 });
  let isTaken = true;
  Object.assign(kept, { save: async () => !isTaken });
  await browsers.open(place("/a"), signal);
  const [a] = opened;
  if (a !== undefined) a.state.usedAt = 1;
  await pass(3_000);
  const why = "The browser profile main was deleted: the tabs, cookies and log-ins of this conversation are gone.";
  expect([a?.lost, a?.closed]).toEqual([[why], 1]);
  isTaken = false;
  expect((await browsers.open(place("/a"), signal)).notices()).toEqual([why]);
  // What it hears of its profile at its end does not concern the one after it.
  const saving = Promise.withResolvers<boolean>();
  Object.assign(kept, { save: () => saving.promise });
  if (opened[1] !== undefined) opened[1].state.usedAt = at + 1;
  const released = browsers.release(place("/a"));
  await browsers.open(place("/a"), signal);
  saving.resolve(false);
  await released;
  expect([opened[1]?.closed, opened[2]?.closed, browsers.peek(place("/a")) !== undefined]).toEqual([1, 0, true]);
  Object.assign(kept, { save: async () => true });
  await browsers.close();
});
