import { expect, test } from "bun:test";
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
    for await (const item of follow(live, log, "a", 0, signal)) return item;
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
    (signal: AbortSignal) => follow(live, log, "a", 0, signal).pages()[Symbol.asyncIterator](),
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
