import { expect, spyOn, test } from "bun:test";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import type { Run, StepContext } from "../../core/runs/run.ts";
import { attempted, expectedFailure, inTime, retryDurably } from "./attempt.ts";

/**
 * Attempts that fail with these codes, one after the other, on a clock that only the pauses move.
 */
async function retried(codes: readonly (ErrorCode | undefined)[], patienceMs: number, endsAt?: number) {
  let now = 1_000;
  let tries = 0;
  const slept: number[] = [];
  const signals: unknown[] = [];
  const run = {
    async sleep(ms: number, { until }: { until: unknown }) {
      slept.push(ms);
      signals.push(until);
      now += ms;
    },
  } as unknown as Run;
  const peers = { retrySignal: () => `signal before try ${tries + 1}` as never };
  const patience = { agent: { name: "swe", url: "http://a.example" }, patienceMs, endsAt };
  const last = await retryDurably(run, patience, peers, async () => {
    const code = codes[tries++];
    return code === undefined ? { value: "done", at: now } : { fault: { code, message: "" }, at: now };
  });
  return { last: "value" in last ? last.value : last.fault.code, tries, slept, signals };
}

test.each<readonly [string, readonly (ErrorCode | undefined)[], number, number | undefined, string, readonly number[]]>(
  [
    ["an answer at once needs no pause", [undefined], 9_000, undefined, "done", []],
    ["what trying again cannot change is tried once", ["not_found"], 9_000, undefined, "not_found", []],
    [
      "each pause is twice the last one, up to 15 s",
      [...Array(7).fill("unavailable"), undefined],
      90_000,
      undefined,
      "done",
      [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000],
    ],
    ["the last pause ends with the patience", Array(9).fill("timeout"), 2_000, undefined, "timeout", [500, 1_000, 500]],
    [
      "patience that is spent exactly is spent",
      Array(9).fill("unavailable"),
      1_500,
      undefined,
      "unavailable",
      [500, 1_000],
    ],
    ["a deadline before it ends it", Array(9).fill("unavailable"), 9_000, 1_700, "unavailable", [500, 200]],
    ["a deadline that has passed leaves one try", Array(9).fill("unavailable"), 9_000, 1_000, "unavailable", []],
    ["a deadline after it does not lengthen it", Array(9).fill("unavailable"), 500, 9_000, "unavailable", [500]],
  ],
)("%s", async (_, codes, patienceMs, endsAt, last, slept) => {
  const outcome = await retried(codes, patienceMs, endsAt);
  expect(outcome).toMatchObject({ last, slept: [...slept], tries: slept.length + 1 });
});

test("a pause listens for news that came while the attempt was under way", async () => {
  const { signals } = await retried(["unavailable", "unavailable", undefined], 9_000);
  expect(signals).toEqual(["signal before try 1", "signal before try 2"]);
});

test("what is expected to fail is a value, with its time; a bug rejects", async () => {
  const clock = { now: () => 7 };
  expect(await attempted(clock, async () => 1)).toEqual({ value: 1, at: 7 });
  const fails = (error: unknown) => attempted(clock, () => Promise.reject(error));
  const fault = (code: ErrorCode, message: string) => ({ fault: { code, message }, at: 7 });
  expect(await fails(new AppError("too_large", "Too much."))).toEqual(fault("too_large", "Too much."));
  expect(await fails(new DOMException("late", "TimeoutError"))).toEqual(
    fault("timeout", "The agent did not answer in time"),
  );
  await expect(fails(new TypeError("bug"))).rejects.toThrow("bug");
  await expect(fails(new DOMException("gone", "AbortError"))).rejects.toThrow("gone");
  expect(expectedFailure(Object.assign(new Error("late"), { name: "TimeoutError" }))).toBeUndefined();
});

test("a step may outlast its ask's deadline by a moment, and without a deadline its signal is its own", () => {
  const { signal } = new AbortController();
  const step = { signal, now: () => 10_000 } as StepContext;
  expect(inTime(step, undefined)).toBe(signal);
  using timeout = spyOn(AbortSignal, "timeout");
  for (const endsAt of [15_000, 10_000, 1_000, 2 ** 40]) expect(inTime(step, endsAt).aborted).toBe(false);
  expect(timeout.mock.calls.flat()).toEqual([7_000, 2_000, 2_000, 2 ** 31 - 1]);
  const ended = { ...step, signal: AbortSignal.abort("canceled") };
  expect(inTime(ended, 10_000).reason).toBe("canceled");
});
