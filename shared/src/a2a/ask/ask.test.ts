import { expect, test } from "bun:test";
import { Task } from "@a2a-js/sdk";
import { remoteQuestion } from "./ask.ts";

const asked = (text: string, messageId: string, timestamp?: string) =>
  remoteQuestion(
    Task.fromJSON({
      id: "t",
      contextId: "c",
      status: {
        state: "TASK_STATE_INPUT_REQUIRED",
        message: { messageId, role: "ROLE_AGENT", parts: [{ text }] },
        ...(timestamp && { timestamp }),
      },
    }),
  );

test("a question is told from the same one asked later by its id, or else by its time", () => {
  const [early, late] = ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z"];
  expect(asked("Which?", "q1", early)).toEqual({ id: "q1", text: "Which?" });
  expect(asked("Which?", "q1", late).id).toBe("q1");
  expect(asked("Which?", "", early).id).toBe(asked("Which?", "", early).id);
  expect(asked("Which?", "", late).id).not.toBe(asked("Which?", "", early).id);
});

test("of a long question the beginning is asked, without half a character at its end", () => {
  const { text } = asked(`${"q".repeat(7_999)}😀`, "q1");
  expect([text.length, text.isWellFormed()]).toEqual([8_000, true]);
});
