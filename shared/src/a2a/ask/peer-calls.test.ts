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

test("of many calls the first and the last are kept, and all are counted", () => {
  let calls = noCalls;
  for (let n = 0; n < 100; n++) calls = withSeen(calls, seen(started(`${n}`), ended(`${n}`)));
  const { calls: kept, count } = madeCalls(calls);
  expect([count, kept.length]).toEqual([100, 60]);
  expect([kept[19], kept[20]].map((call) => call?.arguments)).toEqual(['{"n":"19"}', '{"n":"60"}']);
  expect(withSeen(calls, [])).toBe(calls);
});
