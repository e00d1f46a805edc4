import { expect, test } from "bun:test";
import { knownSchedules } from "./known-schedules.ts";

test("the times of a thousand schedules are remembered, those asked for longest ago are forgotten", () => {
  const { timesOf } = knownSchedules([]);
  const at = (n: number) => timesOf({ cron: `${n % 60} ${Math.floor(n / 60)} * * *`, timeZone: "UTC" });
  const [first, second] = [at(0), at(1)];
  for (let n = 2; n < 1_000; n++) at(n);
  expect(at(0)).toBe(first);
  at(1_000);
  expect(at(0)).toBe(first);
  expect(at(1)).not.toBe(second);
});
