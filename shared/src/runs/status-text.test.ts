import { expect, test } from "bun:test";
import type { ReadEvent } from "../core/events/events.ts";
import { statusLines, statusText } from "./status-text.ts";

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null, source: "provider" } as const;
const replied = (text: string, ...names: readonly string[]): ReadEvent => ({
  type: "model-replied",
  text,
  toolCalls: names.map((name) => ({ id: name, name, arguments: "{}" })),
  usage,
  model: "m",
  milliseconds: 1,
});
const call = { callId: "1", name: "bash" };
const ended = { type: "tool-ended", ...call, milliseconds: 1 } as const;
const ask = { askId: "a", agent: "swe" };
const answered = { type: "agent-answered", ...ask, files: [] } as const;
const entry = { id: "m", kind: "fact", text: "Likes tea." } as const;
const recalled = (entries: readonly (typeof entry)[]): ReadEvent => ({
  ...{ type: "memory-recalled", takenIn: [], by: "words" },
  entries,
});
const fault = { code: "task_failed", message: "No such file." } as const;

test.each<readonly [ReadEvent, string | undefined]>([
  // A reply without calls is the answer, which is an artifact and never a status.
  [replied("Let me look.", "bash"), "Let me look."],
  [replied("It is 42."), undefined],
  [replied(" \n ", "bash"), undefined],
  [replied("Two\n\n  lines ", "bash", "python"), "Two lines"],
  [{ type: "tool-started", ...call, arguments: '{"command":"ls\\n-l"}' }, "bash: ls -l"],
  [{ type: "tool-started", ...call, arguments: '{"command":"ls","wait":3}' }, "bash: command=ls wait=3"],
  [
    { type: "tool-started", ...call, arguments: `{"a":"${"x".repeat(90)}","b":[1]}` },
    `bash: a=${"x".repeat(79)}… b=[1]`,
  ],
  [{ type: "tool-started", ...call, arguments: "{}" }, "bash"],
  [{ type: "tool-started", ...call, arguments: '{"command":"l' }, 'bash: {"command":"l'],
  [{ type: "tool-started", ...call, arguments: '["a"]' }, 'bash: ["a"]'],
  [recalled([]), undefined],
  [recalled([entry]), "Recalled from your memory: 1 entry"],
  [recalled([entry, entry]), "Recalled from your memory: 2 entries"],
  [{ type: "tool-started", callId: "1", name: "terminate", arguments: "{}" }, undefined],
  [{ type: "tool-started", callId: "1", name: "ask_human", arguments: "{}" }, undefined],
  [{ ...ended, text: "no\nsuch file", isError: true }, "bash failed: no such file"],
  [{ ...ended, text: "a.txt", isError: false }, undefined],
  [{ type: "agent-asked", ...ask, url: "u", text: "do it", parts: [], hops: 1 }, "Asks swe: do it"],
  [{ type: "agent-accepted", ...ask, taskId: "t", contextId: "c" }, undefined],
  [{ type: "agent-progressed", ...ask, text: "at it" }, "swe: at it"],
  [{ ...answered, state: "completed" }, "swe completed"],
  [{ ...answered, state: "failed", error: fault }, "swe failed: No such file."],
  [{ type: "question-asked", question: "Which\none?", kind: "question" }, "Which\none?"],
  [{ type: "notice-given", kind: "budget", text: "Little\nis left." }, "Little is left."],
  [{ type: "flow-told", of: "tide-turned", note: "The tide\nturns", data: {} }, "The tide turns"],
  [{ type: "run-paused", error: { message: "The code changed" } }, "Paused: The code changed"],
  [{ type: "run-paused" }, "Paused: it needs a person's attention"],
  [{ type: "run-ended", status: "failed", error: fault }, "No such file."],
  [{ type: "run-ended", status: "completed" }, undefined],
])("the status of %j is %p", (event, text) => {
  expect(statusText(event)).toBe(text as string);
});

test("a line has at most 300 characters and says that it was cut, a question is never cut", () => {
  const told = (length: number) => statusText({ type: "notice-given", kind: "budget", text: "x".repeat(length) });
  expect([299, 300, 301, 5_000].map((length) => told(length)?.length)).toEqual([299, 300, 300, 300]);
  expect([told(300)?.at(-1), told(301)?.at(-1)]).toEqual(["x", "…"]);
  const question = "Which? ".repeat(100);
  expect(statusText({ type: "question-asked", question, kind: "question" })).toBe(question);
});

test("a line is shown again only after another, whatever stands between without one", () => {
  const line = statusLines();
  const said = ["a", "a", undefined, "a", "b", "a"].map((text) =>
    line(text === undefined ? { type: "run-resumed" } : { type: "notice-given", kind: "budget", text }),
  );
  expect(said).toEqual(["a", undefined, undefined, undefined, "b", "a"]);
  expect(statusLines()({ type: "notice-given", kind: "budget", text: "a" })).toBe("a");
});
