import { expect, test } from "bun:test";
import { createQuestionLock } from "./question-lock.ts";

const live = new AbortController().signal;

test("one ask of a run has the floor at a time, and passes it on when it leaves; other runs do not wait", async () => {
  const lock = createQuestionLock();
  expect(await lock.take("run", "a", 60_000, live)).toBe(true);
  // It may take what it has.
  expect(await lock.take("run", "a", 60_000, live)).toBe(true);
  expect(await lock.take("run", "b", 50, live)).toBe(false);
  expect(await lock.take("other", "b", 60_000, live)).toBe(true);
  // Who does not have it cannot pass it on.
  lock.leave("run", "b");
  expect(await lock.take("run", "b", 50, live)).toBe(false);
  const waiting = lock.take("run", "b", 60_000, live);
  lock.leave("run", "a");
  expect(await waiting).toBe(true);
  expect(await lock.take("run", "a", 50, live)).toBe(false);
});

test("who held the floor before a restart has it again, though another asks for it first", async () => {
  const lock = createQuestionLock();
  const other = lock.take("run", "b", 100, live);
  lock.hold("run", "a");
  expect(await other).toBe(false);
});

test("who is canceled stops waiting for the floor, and does not take it", async () => {
  const lock = createQuestionLock();
  const canceled = AbortSignal.abort(new Error("canceled"));
  await expect(lock.take("run", "a", 60_000, canceled)).rejects.toThrow("canceled");
  expect(await lock.take("run", "b", 60_000, live)).toBe(true);
});

test("the holders of a thousand runs are remembered, the latest ones", async () => {
  const lock = createQuestionLock();
  for (let n = 0; n < 1_000; n++) lock.hold(`run ${n}`, "a");
  // Who asks again is one of the latest.
  lock.hold("run 0", "a");
  lock.hold("run 1000", "a");
  const free = (n: number) => lock.take(`run ${n}`, "b", 30, live);
  expect(await Promise.all([free(0), free(2), free(1_000)])).toEqual([false, false, false]);
  expect(await free(1)).toBe(true);
});
