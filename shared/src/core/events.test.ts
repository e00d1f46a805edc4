import { expect, test } from "bun:test";
import { readEvent, sentEvent } from "./events.ts";

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
