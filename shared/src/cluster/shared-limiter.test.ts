import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { AppError } from "../core/errors.ts";
import type { Database } from "../durable/postgres/database.ts";
import type { Limiter } from "../models/limiter.ts";
import { sharedLimiter } from "./shared-limiter.ts";

afterEach(() => mock.restore());

const limits = { endpoint: "e", concurrency: 2, tokensPerMinute: 100 };
const { signal } = new AbortController();

/** A limiter over a database that answers as it is told, and what its own limiter was told. */
function limiting(answers: readonly (number | null | Error)[] = [], over: Partial<typeof limits> = {}) {
  const left = [...answers];
  const asked: Record<string, unknown>[] = [];
  const updates: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  const slept: number[] = [];
  const warned: string[] = [];
  const ended: number[] = [];
  const entered: unknown[] = [];
  const every: { readonly work: () => void; readonly ms: number }[] = [];
  const cleared: unknown[] = [];
  spyOn(globalThis, "setInterval").mockImplementation(((work: () => void, ms: number) => {
    every.push({ work, ms });
    return { unref: () => undefined, of: every.length };
  }) as never);
  spyOn(globalThis, "clearInterval").mockImplementation(((timer: unknown) => void cleared.push(timer)) as never);
  const database = {
    sql: { array: (values: unknown) => values },
    async query(text: string, values: readonly string[]) {
      if (!text.includes("begin_model_call")) return void updates.push({ text, values });
      asked.push(JSON.parse(values[0] ?? ""));
      const answer = left.length > 0 ? left.shift() : 0;
      if (answer instanceof Error) throw answer;
      return [{ answer: JSON.stringify({ left: answer }) }];
    },
  } as unknown as Database;
  const own: Limiter = {
    async enter(...given) {
      entered.push(given);
      return { end: (spent) => void ended.push(spent) };
    },
  };
  const limiter = sharedLimiter({ ...limits, ...over }, own, {
    ...{ database, leaseMs: 900 },
    log: { warn: (_, message) => void warned.push(message), error: () => undefined },
    clock: {
      now: () => 0,
      async sleep(ms: number, stop?: AbortSignal) {
        stop?.throwIfAborted();
        slept.push(ms);
      },
    } as never,
  });
  return { limiter, own, asked, updates, slept, warned, ended, entered, every, cleared };
}

test("a call waits as long as the database says, a second at most at once, and ever longer where it cannot say", async () => {
  const known = limiting([300, 5_000, 0]);
  await known.limiter.enter(1.2, signal, "ann");
  expect(known.slept).toEqual([301, 1_000]);
  expect(known.entered).toEqual([[1.2, signal, "ann"]]);
  const { id } = known.asked[0] ?? {};
  expect(known.asked).toEqual(Array.from({ length: 3 }, () => ({ ...limits, id, tokens: 2, leaseMs: 900 })) as never);
  const unknown = limiting([...Array(8).fill(null), 0]);
  await unknown.limiter.enter(1, signal);
  const bounds = [50, 100, 200, 400, 800, 1_000, 1_000, 1_000];
  for (const [n, ms] of unknown.slept.entries()) {
    expect(ms).toBeGreaterThanOrEqual((bounds[n] ?? 0) / 2);
    expect(ms).toBeLessThanOrEqual((bounds[n] ?? 0) * 1.5);
  }
  expect(unknown.slept).toHaveLength(8);
});

test("a call that is given up while it waits leaves its place here, and counts nowhere", async () => {
  const { limiter, ended, every } = limiting([5_000]);
  await expect(limiter.enter(7, AbortSignal.abort(new Error("Given up.")))).rejects.toThrow("Given up.");
  expect([ended, every]).toEqual([[0], []]);
});

test("calls in flight are renewed three times in each lease until the last has ended, with what each has spent", async () => {
  const { limiter, asked, updates, ended, every, cleared } = limiting();
  const [first, second] = [await limiter.enter(1, signal), await limiter.enter(1, signal)];
  const ids = asked.map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
  expect(every.map(({ ms }) => ms)).toEqual([300]);
  every[0]?.work();
  expect(updates.splice(0).map(({ values }) => values)).toEqual([[ids, 900]]);
  first.end(41.6);
  expect(ended).toEqual([41.6]);
  expect(updates.splice(0)).toEqual([
    { text: expect.stringMatching(/tokens = \$2.*lease_until = NULL.*WHERE id = \$1/), values: [ids[0], 42] },
  ]);
  every[0]?.work();
  expect(updates.splice(0).map(({ values }) => values)).toEqual([[[ids[1]], 900]]);
  expect(cleared).toEqual([]);
  second.end(0);
  expect(cleared).toHaveLength(1);
  await limiter.enter(1, signal);
  expect(every).toHaveLength(2);
});

test("while the database is away the limits of this process hold, and any other failure is the call's", async () => {
  const away = limiting([new AppError("storage_unavailable", "It is away.")]);
  (await away.limiter.enter(1, signal)).end(3);
  expect([away.warned.length, away.slept, away.ended]).toEqual([1, [], [3]]);
  const broken = limiting([new TypeError("A bug.")]);
  await expect(broken.limiter.enter(1, signal)).rejects.toThrow("A bug.");
  expect(broken.ended).toEqual([0]);
});

test("one of the two limits is shared too, and without any the process's own is all there is", async () => {
  const none = limiting([], { concurrency: undefined, tokensPerMinute: undefined } as object);
  expect(none.limiter).toBe(none.own);
  for (const over of [{ concurrency: undefined }, { tokensPerMinute: undefined }] as object[]) {
    const { limiter, asked } = limiting([], over);
    await limiter.enter(1, signal);
    expect(asked).toHaveLength(1);
  }
});
