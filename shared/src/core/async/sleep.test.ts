import { expect, spyOn, test } from "bun:test";
import { sleep } from "./sleep.ts";

test("a wait ends with its time, or with the reason for which it is broken off, also if that came before", async () => {
  await sleep(1);
  const long = new AbortController().signal;
  using added = spyOn(long, "addEventListener");
  using removed = spyOn(long, "removeEventListener");
  for (let n = 0; n < 3; n++) await sleep(1, long);
  // A signal that lasts as long as a task hears of each wait only while it is one.
  expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(added.mock.calls.map(([, listener]) => listener));
  await expect(sleep(60_000, AbortSignal.abort("before"))).rejects.toBe("before");
  const caller = new AbortController();
  const waiting = sleep(60_000, caller.signal);
  caller.abort("now");
  await expect(waiting).rejects.toBe("now");
});
