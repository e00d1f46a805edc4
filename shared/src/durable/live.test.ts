import { expect, test } from "bun:test";
import { Live } from "./live.ts";

const soon = () => AbortSignal.timeout(30_000);

test("a reader that takes nothing has the latest thousand items of progress, in their order", () => {
  const live = new Live();
  const follower = live.follow("a");
  for (let n = 0; n < 1_001; n++) live.progress("a", { type: "delta", n });
  const taken = follower.takeProgress(1).map(({ event }) => event.n);
  expect(taken).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
  expect(follower.takeProgress(1)).toEqual([]);
});

test("news of its own run wakes a reader, whether it comes before or while it waits; other runs do not", async () => {
  const live = new Live();
  const [follower, other] = [live.follow("a"), live.follow("b")];
  const idle = new AbortController();
  const undisturbed = other.news(idle.signal);
  for (const tell of [() => live.committed("a", 1), () => live.progress("a", { type: "delta" })]) {
    tell();
    expect(await follower.news(soon())).toBe(true);
    follower.takeProgress(9);
    const waiting = follower.news(soon());
    tell();
    expect(await waiting).toBe(true);
    follower.takeProgress(9);
  }
  idle.abort();
  expect(await undisturbed).toBe(false);
});

test("a reader that leaves, aborts or whose engine closes waits for nothing, whether it did before or does then", async () => {
  const live = new Live();
  expect(await live.follow("a").news(AbortSignal.abort())).toBe(false);
  const follower = live.follow("a");
  const waiting = follower.news(soon());
  live.close();
  expect(await waiting).toBe(false);
  expect(await follower.news(soon())).toBe(false);
  const gone = live.follow("a");
  gone.leave();
  live.progress("a", { type: "delta" });
  expect(gone.takeProgress(9)).toEqual([]);
});

test("a reader that leaves takes its run's news from no other reader", async () => {
  const live = new Live();
  const [gone, stays] = [live.follow("a"), live.follow("a")];
  gone.leave();
  live.progress("a", { type: "delta" });
  expect([stays.takeProgress(9).length, gone.takeProgress(9)]).toEqual([1, []]);
});

test("progress of another process is dropped once its event is here, and waits for one that is not", () => {
  const live = new Live();
  const reader = live.follow("run");
  reader.reached(5);
  live.progress("run", { type: "text-delta", text: "late" }, 4);
  expect(reader.takeProgress(6)).toEqual([]);
  live.progress("run", { type: "text-delta", text: "early" }, 6);
  expect(reader.takeProgress(6)).toEqual([]);
  expect(reader.takeProgress(7)).toHaveLength(1);
});
