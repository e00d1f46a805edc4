import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { Database } from "./database.ts";
import { DatabaseClock } from "./database-clock.ts";

afterEach(() => mock.restore());

test("the clock is the database's when its answer was half way here, runs on with ours, and never goes back", async () => {
  let ours = 1_000;
  let theirs = 5_000_000;
  spyOn(performance, "now").mockImplementation(() => ours);
  const clock = new DatabaseClock();
  expect(clock.now()).toBe(Math.floor(performance.timeOrigin + 1_000));
  const fresh = new DatabaseClock();
  const database = {
    async query() {
      ours += 200;
      return [{ now: `${theirs}` }];
    },
  } as unknown as Database;
  await fresh.learn(database);
  expect(fresh.now()).toBe(5_000_100);
  ours += 50.7;
  expect(fresh.now()).toBe(5_000_150);
  theirs = 1_000_000;
  await fresh.learn(database);
  expect(fresh.now()).toBe(5_000_150);
  theirs = 9_000_000;
  await fresh.learn(database);
  expect(fresh.now()).toBe(9_000_100);
});
