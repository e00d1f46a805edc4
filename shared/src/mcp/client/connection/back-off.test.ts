import { expect, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import { createBackOff, pause, refuseLongWait, unlessAborted } from "./back-off.ts";

test("failing attempts are spaced out, doubling up to a minute; a success resets the pause", () => {
  let now = 1_000;
  const backOff = createBackOff(() => now);
  const pauses = Array.from({ length: 10 }, () => {
    backOff.failed();
    return backOff.waitMs();
  });
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  now += 59_000;
  expect(backOff.waitMs()).toBe(1_000);
  now += 5_000;
  expect(backOff.waitMs()).toBe(0);
  backOff.worked();
  backOff.failed();
  expect(backOff.waitMs()).toBe(500);
});

test("two seconds are waited for; a longer wait is refused, with what is known", () => {
  expect(() => refuseLongWait("web", 2_000, "why")).not.toThrow();
  const told = "The MCP server web is not there; the next attempt to reach it is in 3 s.";
  expect(() => refuseLongWait("web", 2_001, undefined)).toThrow(new AppError("unavailable", told));
  expect(() => refuseLongWait("web", 3_000, "It ended.")).toThrow(new AppError("unavailable", `${told} It ended.`));
});

test("a wait ends with the signal's own reason, before it begins and in the middle", async () => {
  const value = Promise.withResolvers<string>();
  for (const wait of [
    (signal: AbortSignal) => pause(60_000, signal),
    (signal: AbortSignal) => unlessAborted(value.promise, signal),
  ]) {
    await expect(wait(AbortSignal.abort("before"))).rejects.toBe("before");
    const control = new AbortController();
    const waiting = wait(control.signal);
    control.abort("meanwhile");
    await expect(waiting).rejects.toBe("meanwhile");
  }
  const { signal } = new AbortController();
  await pause(1, signal);
  const kept = unlessAborted(value.promise, signal);
  value.resolve("value");
  expect(await kept).toBe("value");
});
