import { expect, test } from "bun:test";
import type { MachineClock } from "./machine-clock.ts";
import { RunClock } from "./run-clock.ts";

/** A machine whose clocks stand where the test puts them, and what its runs' clock logs. */
function machine() {
  const at = { wall: 1_000_000, uptime: 500, boot: "first" };
  const told: unknown[] = [];
  const clock = () => {
    const own: MachineClock = { boot: at.boot, wall: () => at.wall, uptime: () => at.uptime };
    return new RunClock(own, { warn: (about) => void told.push(about), error: () => undefined });
  };
  const pass = (ms: number) => {
    at.wall += ms;
    at.uptime += ms;
  };
  return { at, told, clock, pass };
}

test("the runs' clock goes on with the uptime, whatever the wall clock is set to, and each change is told once", () => {
  const { at, told, clock, pass } = machine();
  const own = clock();
  expect(own.moment()).toEqual({ wall: 1_000_000, steady: 1_000_000 });
  pass(10);
  expect(own.moment()).toEqual({ wall: 1_000_010, steady: 1_000_010 });
  at.wall += 4_999;
  own.notice();
  expect(told).toEqual([]);
  at.wall += 1;
  own.notice();
  own.notice();
  pass(60_000);
  own.notice();
  expect(told).toEqual([{ seconds: 5, way: "forward" }]);
  expect(own.now()).toBe(1_060_010);
  at.wall -= 12_000;
  own.notice();
  own.notice();
  expect(told).toEqual([
    { seconds: 5, way: "forward" },
    { seconds: 12, way: "back" },
  ]);
  at.uptime += 0.9;
  expect(own.now()).toBe(1_060_010);
});

test("the next process of a boot continues by the uptime, and tells only how the clock was set since", () => {
  const { at, told, clock, pass } = machine();
  const first = clock();
  at.wall += 3_600_000;
  first.notice();
  const reading = first.reading();
  expect(reading).toEqual({ wall: 4_600_000, steady: 1_000_000, boot: "first", uptime: 500 });
  pass(2_000);
  const second = clock();
  second.continueFrom(reading);
  expect(second.moment()).toEqual({ wall: 4_602_000, steady: 1_002_000 });
  expect(told).toEqual([{ seconds: 3600, way: "forward" }]);
  at.wall -= 7_200_000;
  const third = clock();
  third.continueFrom(second.reading());
  at.wall += 7_200_000;
  const fourth = clock();
  fourth.continueFrom(reading);
  expect(third.now()).toBe(fourth.now());
  expect(told).toHaveLength(1);
});

test("after a reboot as much time has passed as the wall clock says, or none if that went back", () => {
  const { at, clock } = machine();
  const reading = { wall: 1_000_000, steady: 900_000, boot: "former", uptime: 7_000_000 };
  const own = clock();
  at.wall = 1_000_700;
  own.continueFrom(reading);
  expect(own.now()).toBe(900_700);
  at.wall = 999_000;
  own.continueFrom(reading);
  expect(own.now()).toBe(900_000);
});
