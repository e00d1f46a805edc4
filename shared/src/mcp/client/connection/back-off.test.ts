import { expect, test } from "bun:test";
import { createBackOff } from "./back-off.ts";

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
