import { expect, test } from "bun:test";
import type { Clock } from "./clock.ts";
import { createLimiter } from "./limiter.ts";

const never = new AbortController().signal;

/** A clock that only `sleep` advances. */
function manualClock(): Clock & { readonly slept: number[] } {
  let now = 1_000_000;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    async sleep(ms, signal) {
      signal.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

test("a call waits until the minute has room for its tokens", async () => {
  const clock = manualClock();
  const limiter = createLimiter({ concurrency: 9, tokensPerMinute: 1000 }, clock);
  (await limiter.enter(600, never)).end(600);
  (await limiter.enter(400, never)).end(400);
  expect(clock.slept).toEqual([]);
  (await limiter.enter(1, never)).end(1);
  expect(clock.slept).toEqual([60_000]);
});

test("actual usage replaces the estimate", async () => {
  const clock = manualClock();
  const limiter = createLimiter({ concurrency: 9, tokensPerMinute: 1000 }, clock);
  (await limiter.enter(900, never)).end(100);
  await limiter.enter(900, never);
  expect(clock.slept).toEqual([]);
});

test("a call bigger than the limit is admitted when nothing else counts, instead of never", async () => {
  const clock = manualClock();
  const limiter = createLimiter({ concurrency: 9, tokensPerMinute: 1000 }, clock);
  await limiter.enter(5000, never);
  await limiter.enter(5000, never);
  expect(clock.slept).toEqual([60_000]);
});

test("calls are admitted in order, and one that gives up does not change the order", async () => {
  const limiter = createLimiter({ concurrency: 1 }, manualClock());
  const order: string[] = [];
  const first = await limiter.enter(1, never);
  const leaving = new AbortController();
  const enter = async (name: string, signal: AbortSignal) => {
    const admission = await limiter.enter(1, signal);
    order.push(name);
    return admission;
  };
  const second = enter("second", never);
  const left = enter("left", leaving.signal).catch((reason: unknown) => reason);
  const third = enter("third", never);
  leaving.abort("gone");
  expect(await left).toBe("gone");
  await Bun.sleep(1);
  expect(order).toEqual([]);
  first.end(1);
  (await second).end(1);
  (await third).end(1);
  expect(order).toEqual(["second", "third"]);
});

test("principals take turns: one with many calls waiting does not keep another from its first", async () => {
  const limiter = createLimiter({ concurrency: 1 }, manualClock());
  const order: string[] = [];
  const first = await limiter.enter(1, never, "ann");
  const calls = ["ann", "ann", "ann", "bob"].map(async (principal, at) => {
    const admission = await limiter.enter(1, never, principal);
    order.push(`${principal}${at}`);
    admission.end(1);
  });
  first.end(1);
  await Promise.all(calls);
  expect(order).toEqual(["ann0", "bob3", "ann1", "ann2"]);
});

test("a small call does not overtake a big one that waits for room, even if one between them gives up", async () => {
  const room = Promise.withResolvers<void>();
  let now = 1_000_000;
  const clock: Clock = { now: () => now, sleep: () => room.promise };
  const limiter = createLimiter({ concurrency: 9, tokensPerMinute: 1000 }, clock);
  (await limiter.enter(500, never)).end(500);
  const order: string[] = [];
  const big = limiter.enter(900, never).then(() => order.push("big"));
  const leaving = new AbortController();
  const left = limiter.enter(1, leaving.signal).catch((reason: unknown) => reason);
  const small = limiter.enter(1, never).then(() => order.push("small"));
  leaving.abort("gone");
  expect(await left).toBe("gone");
  await Bun.sleep(1);
  expect(order).toEqual([]);
  now += 60_000;
  room.resolve();
  await Promise.all([big, small]);
  expect(order).toEqual(["big", "small"]);
});

test("a call that ends makes room for exactly one that waits, and one that gives up while it waits for none", async () => {
  const limiter = createLimiter({ concurrency: 2 }, manualClock());
  const [first, second] = [await limiter.enter(1, never), await limiter.enter(1, never)];
  const leaving = new AbortController();
  const left = limiter.enter(1, leaving.signal).catch((reason: unknown) => reason);
  await Bun.sleep(1);
  leaving.abort("gone");
  expect(await left).toBe("gone");
  let admitted = 0;
  const waiting = [1, 2].map(() =>
    limiter.enter(1, never).then((admission) => {
      admitted++;
      return admission;
    }),
  );
  first.end(1);
  (await waiting[0])?.end(1);
  await waiting[1];
  expect(admitted).toBe(2);
  let third = false;
  const last = limiter.enter(1, never).then(() => {
    third = true;
  });
  await Bun.sleep(1);
  expect(third).toBe(false);
  second.end(1);
  await last;
});

test("tokens count for a minute, to the millisecond", async () => {
  let now = 1_000_000;
  const slept: number[] = [];
  const sleep = async (ms: number) => {
    slept.push(ms);
    now += ms;
  };
  const limiter = createLimiter({ concurrency: 9, tokensPerMinute: 1000 }, { now: () => now, sleep });
  (await limiter.enter(1000, never)).end(1000);
  now += 59_999;
  (await limiter.enter(1, never)).end(1);
  expect(slept).toEqual([1]);
  now += 60_000;
  (await limiter.enter(1000, never)).end(1000);
  expect(slept).toEqual([1]);
});

test("a caller that has given up already is not admitted", async () => {
  const limiter = createLimiter({ concurrency: 1 }, manualClock());
  expect(await limiter.enter(1, AbortSignal.abort("gone")).catch((reason: unknown) => reason)).toBe("gone");
  (await limiter.enter(1, never)).end(1);
});

test("once the oldest call has left the minute, those after it still count", async () => {
  let now = 1_000_000;
  const slept: number[] = [];
  const sleep = async (ms: number) => {
    slept.push(ms);
    now += ms;
  };
  const limiter = createLimiter({ concurrency: 9, tokensPerMinute: 1000 }, { now: () => now, sleep });
  (await limiter.enter(600, never)).end(600);
  now += 30_000;
  (await limiter.enter(400, never)).end(400);
  now += 31_000;
  await limiter.enter(900, never);
  expect(slept).toEqual([29_000]);
});

test("a caller that gives up while the minute has no room is told its own reason, and the next one waits on", async () => {
  const clock: Clock = {
    now: () => 1_000_000,
    sleep: (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  };
  const limiter = createLimiter({ concurrency: 9, tokensPerMinute: 1000 }, clock);
  (await limiter.enter(1000, never)).end(1000);
  const leaving = new AbortController();
  const left = limiter.enter(1, leaving.signal).catch((reason: unknown) => reason);
  await Bun.sleep(1);
  leaving.abort("gone");
  expect(await Promise.race([left, Bun.sleep(1_000).then(() => "it waits on")])).toBe("gone");
});
