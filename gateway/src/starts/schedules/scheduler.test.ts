import { afterEach, expect, mock, test } from "bun:test";
import { silentLog } from "manyhands/internal/core/runs/engine";
import { handClock } from "manyhands/internal/testing/machine/hand-clock";
import { startScheduler } from "./scheduler.ts";

afterEach(() => {
  mock.restore();
});

test("schedules are looked at when one is due, but every fifteen seconds and no sooner than in a fifth of one", async () => {
  const clock = handClock();
  const said: unknown[] = [];
  const log = { ...silentLog, error: (...about: unknown[]) => void said.push(about) };
  const due = [undefined, 1_000_050, 1_007_000, 1_015_001, 999_000, new Error("locked")];
  const tick = async () => {
    const next = due.shift();
    if (next instanceof Error) throw next;
    return next;
  };
  const stop = startScheduler({ tick }, log, () => 1_000_000);
  expect(clock.waits).toEqual([0]);
  for (let look = 0; look < 6; look++) await clock.next();
  expect(clock.waits).toEqual([0, 15_000, 200, 7_000, 15_000, 200, 15_000]);
  expect(said).toEqual([[{ err: new Error("locked") }, "The schedules could not be read; they are read again."]]);
  stop();
  expect(clock.state.cleared).toBe(1);
});

test("a look that is under way at the stop is the last, and says nothing of failing with what was closed", async () => {
  const clock = handClock();
  const said: unknown[] = [];
  const { promise, reject } = Promise.withResolvers<number>();
  const log = { ...silentLog, error: (...about: unknown[]) => void said.push(about) };
  const stop = startScheduler({ tick: () => promise }, log);
  await clock.next();
  stop();
  reject(new Error("closed"));
  await clock.rest();
  expect([clock.waits, said]).toEqual([[0], []]);
});
