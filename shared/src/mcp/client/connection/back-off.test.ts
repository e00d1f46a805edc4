import { expect, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import { createBackOff, refuseLongWait } from "./back-off.ts";

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
