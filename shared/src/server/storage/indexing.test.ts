import { afterEach, expect, mock, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { handClock } from "../../testing/machine/hand-clock.ts";
import { startIndexing } from "./indexing.ts";

afterEach(() => {
  mock.restore();
});

test("words are indexed again soon while there are any, at leisure when there are none, and after a failure", async () => {
  const clock = handClock();
  const outcomes: (number | Error)[] = [3, 0, new AppError("storage_unavailable", "It is away."), new Error("a slip")];
  const said: unknown[] = [];
  const stop = startIndexing(
    {
      async indexWords() {
        const outcome = outcomes.shift() ?? 0;
        if (typeof outcome !== "number") throw outcome;
        return outcome;
      },
    },
    { error: (fields, message) => void said.push([fields, message]) },
  );
  expect(clock.waits).toEqual([1_000]);
  for (let pass = 0; pass < 4; pass++) await clock.next();
  expect(clock.waits).toEqual([1_000, 20, 1_000, 1_000, 1_000]);
  // A store that is away is told of by those who need it.
  expect(said).toEqual([[{ err: new Error("a slip") }, "The words of runs could not be indexed; it is tried again."]]);
  stop();
  expect(clock.state.cleared).toBe(1);
});

test("a pass that is under way at the stop is the last, and says nothing of failing with what was closed", async () => {
  const clock = handClock();
  const said: unknown[] = [];
  const { promise, reject } = Promise.withResolvers<number>();
  const stop = startIndexing({ indexWords: () => promise }, { error: (...about) => void said.push(about) });
  await clock.next();
  stop();
  reject(new Error("closed"));
  await Promise.allSettled([promise]);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  expect([clock.waits, said]).toEqual([[1_000], []]);
});
