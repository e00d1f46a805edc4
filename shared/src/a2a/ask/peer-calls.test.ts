import { expect, test } from "bun:test";
import { madeCalls, noCalls, seenCall, withSeen } from "./peer-calls.ts";

const started = (callId: string) =>
  ({ type: "tool-started", callId, name: "bash", arguments: `{"n":"${callId}"}` }) as const;
const ended = (callId: string, isError = false) =>
  ({ type: "tool-ended", callId, name: "bash", text: "so\nit was", isError, milliseconds: 1 }) as const;
const seen = (...events: Parameters<typeof seenCall>[0][]) => events.flatMap((event) => seenCall(event) ?? []);

test("a call that begins in one step and ends in another is one call, with its outcome", () => {
  const first = withSeen(noCalls, seen(started("a"), started("b"), ended("a", true)));
  expect(madeCalls(first)).toEqual({
    count: 2,
    calls: [
      { name: "bash", arguments: '{"n":"a"}', outcome: "failed", result: "so it was" },
      { name: "bash", arguments: '{"n":"b"}', outcome: "open", result: "" },
    ],
  });
  expect(madeCalls(withSeen(first, seen(ended("b")))).calls[1]?.outcome).toBe("done");
});

test("of a long result the start and the end are kept, on one line", () => {
  const resultOf = (text: string) => seenCall({ ...ended("a"), text })?.ended?.result;
  const whole = "y".repeat(400);
  expect([resultOf(whole), resultOf("What follows…")]).toEqual([whole, "What follows…"]);
  const cut = resultOf(`exit code 1\n${"x ".repeat(5_000)}\n3 passed,\n1 failed`) ?? "";
  expect(cut).toStartWith("exit code 1 x x");
  expect(cut).toContain(" x…  x x");
  expect(cut).toEndWith("x x 3 passed, 1 failed");
  expect(cut).toHaveLength(400);
  expect(resultOf(`${"x".repeat(500)}😀${"z".repeat(138)}`)?.isWellFormed()).toBe(true);
});

test("of many calls the first and the last are kept, and all are counted", () => {
  let calls = noCalls;
  for (let n = 0; n < 100; n++) calls = withSeen(calls, seen(started(`${n}`), ended(`${n}`)));
  const { calls: kept, count } = madeCalls(calls);
  expect([count, kept.length]).toEqual([100, 60]);
  expect([kept[19], kept[20]].map((call) => call?.arguments)).toEqual(['{"n":"19"}', '{"n":"60"}']);
  expect(withSeen(calls, [])).toBe(calls);
});
