import { expect, test } from "bun:test";
import { systemClock } from "./clock.ts";

test("a sleep takes its time, and ends at once with the signal's own reason", async () => {
  const began = systemClock.now();
  await systemClock.sleep(20, new AbortController().signal);
  expect(systemClock.now() - began).toBeGreaterThanOrEqual(19);
  const stop = new AbortController();
  const reason = new Error("enough");
  const sleeping = systemClock.sleep(60_000, stop.signal);
  stop.abort(reason);
  expect(await sleeping.catch((error) => error)).toBe(reason);
  expect(await systemClock.sleep(60_000, stop.signal).catch((error) => error)).toBe(reason);
});
