import { expect, jest, test } from "bun:test";
import type { Workspace } from "../../core/workspace.ts";
import type { OpenProfile, ProfileStore, StorageState } from "../browser-profile/profile-store.ts";
import { keepProfile, type SavedBrowsing } from "./keep-profile.ts";
import { createNotices } from "./notices.ts";

const workspace = { principal: "ann", metaRoot: "/meta/one" } as Workspace;
const stateOf = (...names: string[]): StorageState => ({
  cookies: names.map((name) => ({ name, value: "v", domain: "shop.example", path: "/" })),
  origins: [{ origin: "https://shop.example", localStorage: [] }],
});

/** A kept profile, and everything that was done with it. */
async function scene(changes: Partial<OpenProfile> = {}) {
  const done: unknown[] = [];
  const lost: string[] = [];
  const notices = createNotices();
  const profile: OpenProfile = {
    state: stateOf("first"),
    isKept: true,
    save: async (state) => {
      done.push(state);
      return true;
    },
    renew: async () => done.push("renewed") > 0,
    release: async () => void done.push("released"),
    ...changes,
  };
  const open = async (...args: unknown[]) => {
    done.push(args);
    return profile;
  };
  const store = { open } as unknown as ProfileStore;
  const onLost = (why: string) => void lost.push(why);
  const kept = await keepProfile({ name: "work", store }, { workspace, notices, onLost });
  const opened = done.splice(0);
  const used = { at: 0, idle: true, state: stateOf("next") };
  const browsing: SavedBrowsing = {
    usedAt: () => used.at,
    idleSince: () => (used.idle ? used.at : undefined),
    storage: async () => used.state,
  };
  return { kept, browsing, used, done, lost, notices, opened };
}

test("a profile is the principal's own, and at its end what changed is stored before others may have it", async () => {
  const { kept, browsing, used, done, opened } = await scene();
  expect(opened).toEqual([["ann", "work", "/meta/one"]]);
  expect(kept.state()).toEqual(stateOf("first"));
  expect([
    kept.hasSomethingOf(new URL("https://shop.example/x")),
    kept.hasSomethingOf(new URL("https://b.example")),
  ]).toEqual([true, false]);
  kept.follow(browsing);
  used.at = 5;
  await kept.end();
  expect(done).toEqual([stateOf("next"), "released"]);
  expect(kept.state()).toEqual(stateOf("next"));
});

test("a browsing that was never used changes nothing that is stored", async () => {
  const { kept, browsing, done } = await scene();
  kept.follow(browsing);
  await kept.end();
  expect(done).toEqual(["released"]);
});

test("a page that does not answer leaves what is stored as it is", async () => {
  const { kept, browsing, used, done } = await scene();
  kept.follow({ ...browsing, storage: async () => undefined as never });
  used.at = 5;
  await kept.end();
  expect(done).toEqual(["released"]);
});

test("what a conversation logs in to on its way is not what it began with", async () => {
  const { kept, browsing, used } = await scene();
  kept.follow(browsing);
  used.at = 5;
  used.state = { ...stateOf("next"), origins: [{ origin: "https://new.example", localStorage: [] }] };
  await kept.end();
  expect(kept.state()).toEqual(used.state);
  expect(kept.hasSomethingOf(new URL("https://new.example"))).toBe(false);
});

test("a profile that another conversation is using is read, not written, and the agent is told", async () => {
  const { kept, browsing, used, done, notices } = await scene({ isKept: false });
  expect(notices.take()[0]).toStartWith("Another conversation is using the browser profile work:");
  kept.follow(browsing);
  used.at = 5;
  await kept.end();
  expect(done).toEqual(["released"]);
});

test("a state that is too large keeps its cookies, and a profile that was deleted ends the browsing", async () => {
  const { kept, browsing, used, done, lost, notices } = await scene();
  kept.follow(browsing);
  used.at = 5;
  used.state = {
    ...stateOf("next"),
    origins: [{ origin: "https://a.example", localStorage: ["x".repeat(10_000_000)] }],
  };
  await kept.end();
  expect(done[0]).toEqual({ ...stateOf("next"), origins: [] });
  expect(notices.take()[0]).toStartWith("The storage of pages is too large for the browser profile work:");
  expect(lost).toEqual([]);
  const gone = await scene({ save: async () => false });
  gone.kept.follow(gone.browsing);
  gone.used.at = 5;
  await gone.kept.end();
  expect(gone.lost).toEqual([
    "The browser profile work was deleted: the tabs, cookies and log-ins of this conversation are gone.",
  ]);
  expect(gone.kept.state()).toEqual(stateOf("first"));
});

test("what changed is stored a moment after the last use, not while it is in use, once; the profile is renewed, and a failure told", async () => {
  jest.useFakeTimers();
  const now = performance.now;
  let at = 1_000;
  performance.now = () => at;
  try {
    let fails = false;
    let meanwhile = () => {};
    const saved: StorageState[] = [];
    const { kept, browsing, used, done, lost, notices } = await scene({
      save: async (state) => {
        meanwhile();
        if (fails) throw new Error("The disk is full.");
        saved.push(state);
        return true;
      },
    });
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 1_000) {
        at += 1_000;
        jest.advanceTimersByTime(1_000);
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      }
    };
    kept.follow(browsing);
    used.at = 2_000;
    await pass(2_000);
    expect(saved).toHaveLength(0);
    used.idle = false;
    await pass(3_000);
    expect(saved).toHaveLength(0);
    used.idle = true;
    await pass(2_000);
    expect(saved).toHaveLength(1);
    await pass(6_000);
    expect([saved.length, done]).toEqual([1, ["renewed"]]);
    fails = true;
    used.at = at;
    await pass(3_000);
    expect(notices.take()[0]).toStartWith("The browser profile work could not be saved.");
    fails = false;
    await pass(2_000);
    expect([saved.length, lost]).toEqual([2, []]);
    // What is done while it is stored is not in what is stored.
    meanwhile = () => {
      used.at = at;
    };
    used.at = 1;
    await pass(2_000);
    meanwhile = () => {};
    await pass(3_000);
    expect([saved.length, lost]).toEqual([4, []]);
  } finally {
    performance.now = now;
    jest.useRealTimers();
  }
});

test("a profile that was taken over is not used any more", async () => {
  jest.useFakeTimers();
  const now = performance.now;
  let at = 1_000;
  performance.now = () => at;
  try {
    const { kept, browsing, lost } = await scene({ renew: async () => false });
    kept.follow(browsing);
    at += 20_000;
    jest.advanceTimersByTime(1_000);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(lost).toHaveLength(1);
  } finally {
    performance.now = now;
    jest.useRealTimers();
  }
});
