import { expect, test } from "bun:test";
import { durationMs } from "./duration.ts";

test.each([
  ["0", 0],
  ["0s", 0],
  ["90s", 90_000],
  ["15m", 900_000],
  ["24h", 86_400_000],
  ["30d", 2_592_000_000],
  ["off", undefined],
  ["5", undefined],
  ["xs", undefined],
])("the time %j is %p milliseconds", (time, ms) => {
  expect(durationMs(time)).toBe(ms as number);
});
