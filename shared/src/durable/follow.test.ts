import { expect, spyOn, test } from "bun:test";
import { AppError } from "../core/errors.ts";
import { changes, follow } from "./follow.ts";
import { Live } from "./live.ts";

const signal = new AbortController().signal;

/** Follows a run whose log cannot be read once `before` has happened. */
async function followed(live: Live, before: () => void): Promise<unknown> {
  const log = {
    open: async () => () => undefined,
    async read() {
      before();
      throw new AppError("unavailable", "This engine is closed.");
    },
  };
  try {
    for await (const item of follow(live, log, "a", { after: 0, signal })) return item;
    return "ended";
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
}

test("a follower that reads while its engine closes ends, and one that cannot read otherwise fails", async () => {
  const live = new Live();
  expect(await followed(live, () => undefined)).toBe("unavailable");
  expect(await followed(live, () => live.close())).toBe("ended");
});

test("who followed a run, or all of them, no longer hears of news once it has stopped", async () => {
  const live = new Live();
  let opened = 0;
  const open = async () => {
    opened++;
    return () => void opened--;
  };
  const log = { open, read: async () => ({ events: [], end: 0, hasEnded: false }) };
  const ways = [
    (signal: AbortSignal) => changes(live, open, signal),
    (signal: AbortSignal) => follow(live, log, "a", { after: 0, signal }).pages()[Symbol.asyncIterator](),
  ] satisfies ((signal: AbortSignal) => AsyncIterator<unknown>)[];
  for (const begin of ways) {
    const stop = new AbortController();
    const next = begin(stop.signal).next();
    await Bun.sleep(0);
    expect(opened).toBe(1);
    stop.abort();
    expect([(await next).done, opened]).toEqual([true, 0]);
  }
});

/** A log of a run whose pages are these in turn, and the places after which each was asked for. */
function paged(pages: readonly (readonly [seqs: readonly number[], end: number, hasEnded?: true])[]) {
  const asked: number[] = [];
  const log = {
    open: async () => () => undefined,
    async read(last: number, reached: (end: number) => void) {
      const [seqs, end, hasEnded = false] = pages[asked.push(last) - 1] ?? [[], 0];
      reached(end);
      const events = seqs.map((seq) => ({ runId: "a", seq, at: 0, event: { type: `e${seq}` } }));
      return { events, end, hasEnded };
    },
  };
  return { log, asked };
}

test("a reader asks for page after page while there is more, waits for news behind the last, and ends with the run", async () => {
  const live = new Live();
  const { log, asked } = paged([
    [[3, 4], 5],
    [[5], 5],
    [[], 5],
    [[6], 7],
    [[7], 7, true],
  ]);
  const stop = new AbortController();
  const heard = [spyOn(stop.signal, "addEventListener"), spyOn(stop.signal, "removeEventListener")];
  const seen: string[] = [];
  const read = (async () => {
    for await (const { event } of follow(live, log, "a", { after: 2, signal: stop.signal })) seen.push(event.type);
  })();
  const turns = async () => {
    for (let turn = 0; turn < 9; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  await turns();
  expect([seen, asked]).toEqual([
    ["e3", "e4", "e5"],
    [2, 4],
  ]);
  // News that are none of its own, and progress, which has its place behind what is there.
  live.committed("other", 9);
  await turns();
  expect(asked).toHaveLength(2);
  live.progress("a", { type: "shown" });
  await turns();
  expect([seen.slice(3), asked.slice(2)]).toEqual([["shown"], [5]]);
  live.committed("a", 7);
  await read;
  expect([seen.slice(4), asked.slice(3)]).toEqual([
    ["e6", "e7"],
    [5, 6],
  ]);
  // A reader of a long run leaves nothing with its signal.
  expect(heard[0]?.mock.calls.length).toBe(heard[1]?.mock.calls.length as number);
});

test("a reader that stops in the middle of a page is let go, and of a run that has ended no progress is shown", async () => {
  const live = new Live();
  let closed = 0;
  const { log } = paged([[[1, 2], 2, true]]);
  const own = { ...log, open: async () => () => void closed++ };
  for await (const _ of follow(live, own, "a", { after: 0, signal })) break;
  expect(closed).toBe(1);
  const { log: over } = paged([[[1], 1, true]]);
  const items: string[] = [];
  const late = {
    ...over,
    open: async () => {
      const close = await over.open();
      live.progress("a", { type: "late" }, 1);
      return close;
    },
  };
  for await (const { event } of follow(live, late, "a", { after: 0, signal })) items.push(event.type);
  expect(items).toEqual(["e1"]);
});

test("who hears of all runs hears of each, however it is told", async () => {
  const live = new Live();
  const stop = new AbortController();
  const all = changes(live, async () => () => undefined, stop.signal);
  for (const tell of [() => live.committed("a", 0), () => live.anyChanged()]) {
    const next = all.next();
    await Bun.sleep(0);
    tell();
    expect((await next).done).toBe(false);
  }
  const last = all.next();
  await Bun.sleep(0);
  live.close();
  expect((await last).done).toBe(true);
});
