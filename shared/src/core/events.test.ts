import { expect, test } from "bun:test";
import { readEvent, sentEvent } from "./events.ts";

test("a run that ended with an error code of a later version has ended, as a failure of the task", () => {
  const stored = { type: "run-ended", status: "failed", error: { code: "of_a_later_version", message: "It is full." } };
  expect(readEvent(stored)).toEqual({
    type: "run-ended",
    status: "failed",
    error: { code: "task_failed", message: "It is full." },
  });
});

test("an event of a later version is sent as it was stored, with all that it says", () => {
  const ofNewType = { type: "tide-forecast", height: 3 };
  const ofNewForm = { type: "run-resumed", version: 2, by: "a person" };
  expect(sentEvent(ofNewType)).toEqual(ofNewType);
  expect(sentEvent(ofNewForm)).toEqual(ofNewForm);
});
