import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { pause, retrying } from "./client-retry.ts";

const away = new AppError("unavailable", "It is away.");

/** Calls that fail so, one after another, and then succeed; how many were made. */
async function calling(errors: readonly unknown[], retries: number, signal?: AbortSignal) {
  let calls = 0;
  const outcome = await retrying({ retries, firstPauseMs: 0 }, signal, async () => {
    const error = errors[calls++];
    if (error !== undefined) throw error;
    return "answer";
  }).catch((error: unknown) => error);
  return { outcome, calls };
}

test("a call is tried again as often as allowed while its failure may pass, and the last failure is told", async () => {
  expect(await calling([away, away], 2)).toEqual({ outcome: "answer", calls: 3 });
  expect(await calling([away, away, away], 2)).toEqual({ outcome: away, calls: 3 });
  expect(await calling([away], 0)).toEqual({ outcome: away, calls: 1 });
  const refused = new AppError("forbidden", "Not you.");
  expect(await calling([away, refused, away], 5)).toEqual({ outcome: refused, calls: 2 });
  expect(await calling([new TypeError("reset")], 0)).toMatchObject({ outcome: { code: "unavailable" } });
});

test("who has gone is told its own reason, and no further call is made", async () => {
  expect(await calling([away], 9, AbortSignal.abort("enough"))).toEqual({ outcome: "enough", calls: 1 });
  const caller = new AbortController();
  setTimeout(() => caller.abort("later"), 20);
  let calls = 0;
  const call = retrying({ retries: 9, firstPauseMs: 60_000 }, caller.signal, async () => {
    calls++;
    throw away;
  });
  expect(await call.catch((error: unknown) => error)).toBe("later");
  expect(calls).toBe(1);
});

test.each([
  [1, 100, 50, 100],
  [2, 100, 100, 200],
  [4, 100, 400, 800],
  [9, 100, 5_000, 10_000],
])(
  "before attempt %i + 1 the pause is between half and all of its time, ten seconds at most",
  async (attempt, first, least, most) => {
    for (const [random, wanted] of [
      [0, least],
      [1, most],
    ] as const) {
      using _ = spyOn(Math, "random").mockReturnValue(random);
      using timer = spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void) => {
        then();
        return 0;
      }) as never);
      await pause({ retries: 9, firstPauseMs: first }, attempt, undefined);
      expect(timer.mock.calls.map(([, ms]) => ms)).toEqual([wanted]);
    }
  },
);
