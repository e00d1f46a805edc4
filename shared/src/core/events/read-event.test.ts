import { expect, test } from "bun:test";
import { readEvent, sentEvent } from "./read-event.ts";

test("an unknown error code of a later version reads as task_failed, and the run has ended", () => {
  const stored = { type: "run-ended", status: "failed", error: { code: "of_a_later_version", message: "It is full." } };
  expect(readEvent(stored)).toEqual({
    type: "run-ended",
    status: "failed",
    error: { code: "task_failed", message: "It is full." },
  });
});

test("an event of a later version is sent as it was stored, with all its fields", () => {
  const ofNewType = { type: "tide-forecast", height: 3 };
  const ofNewForm = { type: "run-resumed", version: 2, by: "a person" };
  expect(sentEvent(ofNewType)).toEqual(ofNewType);
  expect(sentEvent(ofNewForm)).toEqual(ofNewForm);
});

test.each([
  // What flows of earlier versions said by their type is now said in the keys that all flows share.
  [
    { type: "step-assigned", note: "n", index: 1 },
    { index: 1, begun: true },
  ],
  [{ type: "branch-begun", note: "n" }, { begun: true }],
  [{ type: "iteration-begun", note: "n" }, { begun: true }],
  [
    { type: "policy-settled", note: "n", met: true },
    { met: true, outcome: "completed" },
  ],
  [
    { type: "policy-settled", note: "n", met: false },
    { met: false, outcome: "failed" },
  ],
  [{ type: "argument-made", note: "n" }, { outcome: "completed" }],
  [{ type: "debater-absent", note: "n" }, { outcome: "blocked" }],
  [{ type: "tide-turned", note: "n", height: 3 }, { height: 3 }],
  [{ type: "tide-turned", note: "n", data: [3] }, {}],
  [{ type: "tide-turned", note: "n", data: null }, {}],
  [{ type: "step-assigned", note: "n", data: { index: 1 } }, { index: 1 }],
] as const)("the flow event %j is read with the data %j", (stored, data) => {
  expect(readEvent(stored as never)).toEqual({
    type: "flow-told",
    of: stored.type,
    note: "n",
    // In today's form only `data` is data; in the earlier one everything beside the note is.
    data: data as never,
  });
});

test("an event without a note is unknown, and a version that this one knows or that is not a number is read", () => {
  expect(readEvent({ type: "tide-turned", note: 1 })).toEqual({ type: "unknown", of: "tide-turned" });
  for (const version of [1, 0, "2"])
    expect(readEvent({ type: "run-resumed", version } as never)).toEqual({ type: "run-resumed" });
  expect(readEvent({ type: "run-resumed", version: 1.5 })).toEqual({ type: "unknown", of: "run-resumed" });
});
