import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { handClock } from "../../../testing/machine/hand-clock.ts";
import { Presence, type PresenceOptions } from "./presence.ts";

afterEach(() => mock.restore());

type Other = {
  readonly id: string;
  readonly lock_key: string;
  readonly is_late: boolean;
  readonly is_cut_off?: boolean;
};

/**
 * A worker over a database that answers as it is told, and all that it asked on its own session and
 * beside it.
 */
function present({ leaseMs = 1_000 }: { leaseMs?: number } = {}) {
  const clock = handClock();
  const own: (readonly [string, readonly unknown[]])[] = [];
  const beside: (readonly [string, readonly unknown[]])[] = [];
  const at = { changed: 0, lost: 0, released: 0, learned: 0, warned: [] as string[] };
  const state = {
    isKnown: true,
    refuses: false,
    others: [] as Other[],
    free: [] as string[],
    buried: "2" as string | null,
  };
  const session = {
    async unsafe(text: string, values: readonly unknown[] = []) {
      own.push([text, values]);
      if (text.startsWith("UPDATE")) return state.isKnown ? [{ id: "me" }] : [];
      return text.includes("try_advisory") ? [{ free: state.free.includes(String(values[0])) }] : [];
    },
    end: async () => void at.released++,
  };
  const database = {
    async session() {
      if (state.refuses) throw new Error("No connection.");
      return session;
    },
    async query(text: string, values: readonly unknown[] = []) {
      beside.push([text, values]);
      if (text.includes("bury_worker")) return [{ runs: state.buried }];
      return text.includes("FROM workers")
        ? state.others.filter(({ id }) => id !== values[0] || !text.includes("<>"))
        : [];
    },
  };
  const presence = new Presence({
    ...{ database, leaseMs },
    clock: { learn: async () => void at.learned++ },
    executor: { loseAll: () => void at.lost++ },
    log: { warn: (_: object, message: string) => void at.warned.push(message), error: () => undefined },
    onChange: () => void at.changed++,
  } as unknown as PresenceOptions);
  const rest = async () => {
    for (let turn = 0; turn < 30; turn++) await Promise.resolve();
  };
  const beat = async () => {
    clock.state.fire();
    await rest();
  };
  const verbs = (asked: typeof own) => asked.splice(0).map(([text]) => text.split(/[ (]/).slice(0, 2).join(" "));
  return { presence, clock, own, beside, at, state, beat, rest, verbs };
}

test("a worker learns the time, locks its name before others see it, and renews its lease five times in it, or twice a second", async () => {
  for (const [leaseMs, everyMs] of [
    [1_000, 200],
    [60_000, 500],
  ] as const) {
    const one = present({ leaseMs });
    one.presence.start();
    one.presence.start();
    await one.rest();
    const { owner } = one.presence;
    expect([one.at.learned, one.at.changed, one.clock.waits]).toEqual([1, 1, [everyMs]]);
    const [lock, insert] = one.own.splice(0);
    expect([lock?.[0], insert?.[0]]).toEqual([
      expect.stringContaining("pg_advisory_lock"),
      expect.stringContaining("INSERT INTO workers"),
    ]);
    expect(insert?.[1]).toEqual([owner, lock?.[1][0], leaseMs]);
    await one.beat();
    expect(one.own.splice(0)).toEqual([[expect.stringContaining("UPDATE workers SET expires_at"), [owner, leaseMs]]]);
    expect([one.at.changed, one.at.lost, one.presence.owner]).toEqual([1, 0, owner]);
    mock.restore();
  }
});

test("a worker that cannot be known yet tries again soon, and one that was declared dead gives all up and comes back as another", async () => {
  const one = present();
  one.state.refuses = true;
  one.presence.start();
  await one.rest();
  expect([one.presence.owner, one.clock.waits, one.at.lost, one.at.warned]).toEqual([undefined, [200], 1, []]);
  one.state.refuses = false;
  await one.beat();
  const { owner } = one.presence;
  expect(owner).toBeDefined();
  one.state.isKnown = false;
  await one.beat();
  expect([one.presence.owner, one.at.lost, one.at.warned.length]).toEqual([undefined, 2, 1]);
  // Its lock goes with its session.
  await one.rest();
  expect(one.at.released).toBe(1);
  one.state.isKnown = true;
  await one.beat();
  expect(one.presence.owner === owner).toBe(false);
  expect(one.presence.owner).toBeDefined();
});

test("another is declared dead if its lock is free or its lease is over, and its lock is kept by nobody then", async () => {
  const one = present();
  const [alive, gone, late] = ["1", "2", "3"].map((lock_key) => ({ id: `w${lock_key}`, lock_key, is_late: false }));
  one.state.others = [alive, gone, { ...late, is_late: true }] as Other[];
  one.state.free = ["2"];
  one.presence.start();
  await one.rest();
  await one.rest();
  const buried = () => one.beside.splice(0).flatMap(([text, values]) => (text.includes("bury_worker") ? [values] : []));
  expect(buried()).toEqual([
    ["w2", false],
    ["w3", true],
  ]);
  const unlocked = one.own.flatMap(([text, values]) => (text.includes("advisory_unlock(") ? [values] : []));
  expect(unlocked).toEqual([["2"]]);
  expect([one.at.changed, one.at.warned.length]).toEqual([2, 2]);
  // What another has buried is no news here.
  one.state.buried = null;
  await one.beat();
  await one.rest();
  expect([buried().length, one.at.changed, one.at.warned.length]).toEqual([2, 2, 2]);
  expect([await one.presence.isGone("w1"), await one.presence.isGone("w3")]).toEqual([false, false]);
  one.state.others = [];
  expect(await one.presence.isGone("w1")).toBe(true);
});

test("one whose lock went with the server is awaited for three seconds", async () => {
  const one = present({ leaseMs: 60_000 });
  const buried = () => one.beside.splice(0).some(([text]) => text.includes("bury_worker"));
  one.state.others = [{ id: "w1", lock_key: "1", is_late: false, is_cut_off: true }];
  one.state.free = ["1"];
  const now = spyOn(performance, "now").mockReturnValue(10_000);
  one.presence.start();
  await one.rest();
  await one.rest();
  expect(buried()).toBe(false);
  now.mockReturnValue(13_001);
  await one.beat();
  await one.rest();
  expect(buried()).toBe(true);
});

test("a worker that leaves is buried by itself, lets its lock go, and beats no more", async () => {
  const one = present();
  one.presence.start();
  await one.rest();
  const { owner } = one.presence;
  one.beside.splice(0);
  await one.presence.close();
  await one.rest();
  expect(one.beside).toEqual([["SELECT bury_worker($1, false)", [owner]]]);
  expect([one.at.released, one.clock.state.cleared, one.at.lost]).toEqual([1, 1, 0]);
});

test("a worker that leaves while it is looking looks no more", async () => {
  const one = present();
  one.presence.start();
  await one.rest();
  const before = one.clock.waits.length;
  one.clock.state.fire();
  await one.presence.close();
  await one.rest();
  expect([one.clock.waits.length, one.at.warned]).toEqual([before, []]);
});
