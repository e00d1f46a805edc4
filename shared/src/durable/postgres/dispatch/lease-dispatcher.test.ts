import { expect, spyOn, test } from "bun:test";
import { silentLog } from "../../../core/runs/engine.ts";
import { until } from "../../../testing/durable/until.ts";
import { offerOf } from "../../offer.ts";
import type { RunRow } from "../run-row.ts";
import type { DispatcherDeps } from "./dispatcher.ts";
import type { Pool } from "./executor.ts";
import { LeaseDispatcher } from "./lease-dispatcher.ts";

type Claim = { readonly owner: string; readonly limit: number; readonly served: string };

/**
 * A dispatcher over a database that answers claims as it is told, with all that it asked and told.
 */
async function dispatching(claimed: (n: number) => readonly object[] | Promise<readonly object[]> = () => []) {
  const claims: Claim[] = [];
  const handedBack: unknown[] = [];
  const offered: unknown[] = [];
  const told: unknown[] = [];
  const executed: string[] = [];
  const gates: (() => void)[] = [];
  const resumed: object[] = [];
  const left: true[] = [];
  let lost = 0;
  const session = { unsafe: async () => [{ id: "known" }], end: async () => undefined };
  const database = {
    session: async () => session,
    async query(text: string, [first, known]: readonly unknown[]) {
      if (text.includes("hand_back")) handedBack.push(JSON.parse(String(known)));
      if (!text.includes("claim_fairly")) return [];
      claims.push(JSON.parse(String(first)));
      return [{ answer: JSON.stringify(await claimed(claims.length)), is_left: left.splice(0).length > 0 }];
    },
    async call(_: "offer_bodies", argument: object) {
      offered.push(argument);
      return resumed.splice(0);
    },
  };
  const definition = { kind: "work", execute: async () => null };
  const pool: Pool = {
    definitions: new Map([["work", definition]]),
    ...{ offer: offerOf([definition]), concurrency: 3, running: 0, reserved: 0, served: "" },
  };
  const executor = {
    isDraining: false,
    offer: pool.offer,
    poolOf: (kind: string) => (kind === "work" ? pool : undefined),
    loseAll: () => void lost++,
    execute: ({ id }: RunRow) => {
      executed.push(id);
      return new Promise<void>((resolve) => gates.push(resolve));
    },
  };
  const dispatcher = new LeaseDispatcher({
    ...{ database, executor, log: silentLog, leaseMs: 60_000 },
    clock: { now: () => 1_000, learn: async () => undefined },
    news: { tell: (runId: string, about: object) => void told.push([runId, about]) },
  } as unknown as DispatcherDeps);
  dispatcher.serve(pool);
  await until(() => claims.length > 0 && offered.length > 0 && dispatcher.isIdle);
  const looked = async (since: number) => until(() => claims.length > since && dispatcher.isIdle);
  return {
    ...{
      dispatcher,
      pool,
      executor,
      session,
      claims,
      handedBack,
      offered,
      told,
      executed,
      gates,
      looked,
      resumed,
      left,
    },
    losses: () => lost,
    [Symbol.asyncDispose]: () => dispatcher.close(),
  };
}

const row = (id: string, principal = "ann") => ({ id, n: id, principal });

test("as many runs are claimed as there is room for, and the next claim says whose run came last", async () => {
  await using at = await dispatching((n) => (n === 1 ? [row("1", "ann"), row("2", "bob")] : []));
  expect(at.executed).toEqual(["1", "2"]);
  at.dispatcher.news();
  // Two of the three that the first claim asked for have its places.
  await at.looked(1);
  expect(at.claims[0]).toMatchObject({ limit: 3, served: "" });
  at.pool.running = 1;
  const before = at.claims.length;
  at.dispatcher.news();
  await at.looked(before);
  expect(at.claims.at(-1)).toMatchObject({ limit: 2, served: "bob" });
  at.pool.running = 3;
  const asked = at.claims.length;
  at.dispatcher.news();
  await until(() => at.dispatcher.isIdle);
  expect(at.claims).toHaveLength(asked);
  expect(at.dispatcher.reserve("work")).toBeUndefined();
  at.pool.running = 2;
  expect([at.dispatcher.reserve("work"), at.dispatcher.reserve("work")]).toEqual([expect.anything(), undefined]);
});

test("what another had in hand when it was claimed is looked at again soon, and once", async () => {
  await using at = await dispatching();
  const before = at.claims.length;
  at.left.push(true);
  at.dispatcher.news();
  await at.looked(before + 1);
  await Bun.sleep(50);
  expect(at.claims).toHaveLength(before + 2);
});

test("others know what a process offers before it begins a run", async () => {
  const order: string[] = [];
  await using at = await dispatching(() => {
    order.push("claimed");
    return [];
  });
  expect(at.offered).toHaveLength(1);
  Object.assign(at.pool.offer, { keys: [...at.pool.offer.keys, "another"] });
  order.length = 0;
  const { push } = at.offered;
  at.offered.push = (...items) => {
    order.push("offered");
    return push.apply(at.offered, items);
  };
  at.dispatcher.news();
  await until(() => order.length >= 2);
  expect(order.slice(0, 2)).toEqual(["offered", "claimed"]);
});

test("a run that is due in months wakes nobody today; one that is due now does", async () => {
  await using at = await dispatching();
  const before = at.claims.length;
  at.dispatcher.runnable("later", 2 ** 40);
  await Bun.sleep(30);
  expect([at.claims.length, at.told]).toEqual([before, []]);
  at.dispatcher.runnable("due", 990);
  await at.looked(before);
  expect(at.told).toEqual([]);
  // Others may have room where this process has none.
  at.dispatcher.runnable("now");
  expect(at.told).toEqual([["now", { isClaimable: true }]]);
});

test("a dispatcher that is closed waits for no run any more, however far away its time is", async () => {
  const at = await dispatching();
  using timers = spyOn(globalThis, "setTimeout");
  using cleared = spyOn(globalThis, "clearTimeout");
  for (const due of [2 ** 40, 90_000]) at.dispatcher.runnable("later", due);
  const wakers = timers.mock.results.map(({ value }): unknown => value);
  await at.dispatcher.close();
  const ended = cleared.mock.calls.map(([timer]): unknown => timer);
  expect(wakers.map((waker) => ended.includes(waker))).toEqual([true, true]);
});

test("a place that was not taken may stand for a run that nobody knows of: what is unknown is handed back", async () => {
  await using at = await dispatching((n) => (n === 1 ? [row("6"), row("7")] : []));
  const looks = at.claims.length;
  at.gates[0]?.();
  await at.looked(looks);
  const [first, second] = [at.dispatcher.reserve("work"), at.dispatcher.reserve("work")];
  expect([first?.owner, first?.body, at.pool.reserved]).toEqual([at.dispatcher.owner, 1, 2]);
  expect(at.dispatcher.reserve("other")).toBeUndefined();
  const asked = at.claims.length;
  second?.leave();
  // While a run is being accepted, which may be given to this process in a moment, nothing is.
  await until(() => at.claims.length > asked);
  expect(at.handedBack).toEqual([]);
  expect(at.dispatcher.reserve("work")).toBeUndefined();
  first?.begin(row("8") as unknown as RunRow);
  first?.leave();
  at.dispatcher.news();
  await until(() => at.handedBack.length > 0);
  expect(at.handedBack).toEqual([["7", "8"]]);
  expect([at.executed, at.pool.reserved]).toEqual([["6", "7", "8"], 0]);
});

test("a process that is stopping reserves no place and claims nothing more", async () => {
  await using at = await dispatching();
  at.executor.isDraining = true;
  const asked = at.claims.length;
  expect(at.dispatcher.reserve("work")).toBeUndefined();
  at.dispatcher.news();
  await until(() => at.dispatcher.isIdle);
  expect(at.claims).toHaveLength(asked);
});

test("a place that was taken leaves nothing to hand back", async () => {
  await using at = await dispatching();
  const before = at.claims.length;
  const seat = at.dispatcher.reserve("work");
  seat?.begin(row("1") as unknown as RunRow);
  seat?.leave();
  at.gates[0]?.();
  await at.looked(before);
  expect(at.handedBack).toEqual([]);
});

test("a claim whose answer was lost is followed by handing back what is unknown", async () => {
  await using at = await dispatching((n) => (n === 2 ? Promise.reject(new Error("Cut off.")) : []));
  const before = at.claims.length;
  if (before < 2) at.dispatcher.news();
  await until(() => at.claims.length > 1 && at.dispatcher.isIdle);
  at.dispatcher.news();
  await until(() => at.handedBack.length > 0);
  expect(at.handedBack).toEqual([[]]);
});

test("what a process offers is told once, and the runs that waited for it are told to all", async () => {
  await using at = await dispatching();
  const before = at.claims.length;
  at.dispatcher.news();
  await at.looked(before);
  expect(at.offered).toEqual([{ owner: at.dispatcher.owner, keys: at.pool.offer.keys }]);
  const now = at.claims.length;
  at.resumed.push({ id: "paused", last: 4 });
  Object.assign(at.pool.offer, { keys: [...at.pool.offer.keys, "another"] });
  at.dispatcher.news();
  // It looks once more, for the run that can go on.
  await until(() => at.claims.length >= now + 2 && at.dispatcher.isIdle);
  expect(at.told).toEqual([["paused", { last: 4, isClaimable: true }]]);
});

test("a process that others declared dead loses all that it held, and comes back under another name", async () => {
  await using at = await dispatching();
  const { owner } = at.dispatcher;
  at.session.unsafe = async () => [];
  await until(() => at.losses() > 0);
  expect(at.dispatcher.reserve("work")).toBeUndefined();
  at.session.unsafe = async () => [{ id: "known" }];
  await until(() => at.dispatcher.owner !== undefined);
  expect(at.dispatcher.owner).not.toBe(owner);
  expect(at.losses()).toBe(1);
  // Nobody knows what is executed under that name.
  await until(() => at.offered.length === 2);
  expect(at.offered[1]).toEqual({ owner: at.dispatcher.owner, keys: at.pool.offer.keys });
});
