import { expect, test } from "bun:test";
import type { RunEvent } from "../runs/run.ts";
import { eventText, hasWords, likeWord } from "./event-text.ts";
import { readEvent } from "./read-event.ts";

const parts = [
  { type: "text", text: "some words" },
  { type: "file", sha256: "0".repeat(64), name: "a.csv", mediaType: "text/csv", size: 1 },
  { type: "url", url: "https://a.example/b", name: "b" },
];
const error = { code: "task_failed", message: "It broke." };
const ask = { askId: "r/1", agent: "swe" };
const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null, source: "provider" };

const said: readonly (readonly [RunEvent, string])[] = [
  [{ type: "message-received", messageId: "m", parts }, "some words\na.csv\nb"],
  [{ type: "model-replied", text: "a reply", toolCalls: [], usage, model: "m", milliseconds: 1 }, "a reply"],
  [{ type: "tool-started", callId: "c", name: "bash", arguments: '{"a":1}' }, 'bash {"a":1}'],
  [{ type: "tool-ended", callId: "c", name: "bash", text: "out", isError: false, milliseconds: 1 }, "bash out"],
  [{ type: "context-compacted", summary: "in short", kept: 1, usage }, "in short"],
  [{ type: "agent-asked", ...ask, url: "http://swe", text: "cut", parts, hops: 1 }, "swe some words"],
  [{ type: "agent-answered", ...ask, state: "failed", files: [], error }, "It broke."],
  [{ type: "agent-answered", ...ask, state: "completed", files: [] }, ""],
  [{ type: "question-asked", question: "Which?", kind: "question" }, "Which?"],
  [{ type: "notice-given", kind: "stuck", text: "It repeats itself." }, "It repeats itself."],
  [{ type: "artifact-added", artifactId: "a", name: "answer", parts }, "answer some words\na.csv\nb"],
  [{ type: "run-paused", error }, "It broke."],
  [{ type: "run-ended", status: "failed", error }, "It broke."],
  [{ type: "step-finished", note: "Step 1 is done", data: {} }, "Step 1 is done"],
  [{ type: "step-started", step: 1, maxSteps: 2 }, ""],
];

test.each(said.map(([event, text]) => [event.type, event, text] as const))(
  "an event %s says what a search finds it by",
  (_, event, text) => {
    expect(eventText(readEvent(event))).toBe(text);
  },
);

test("words are found in any case, all of them, and none stands for others in the store's search", () => {
  expect(hasWords("The Cat sat", ["cat", "SAT"])).toBe(true);
  expect(hasWords("The Cat sat", ["cat", "dog"])).toBe(false);
  expect(likeWord('50%_"a\\')).toBe('%50\\%\\_\\\\"a\\\\\\\\%');
});
