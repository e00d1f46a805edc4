import { expect, test } from "bun:test";
import type { RunView } from "manyhands/internal/runs/run-view";
import { completion, completionText, usageOf } from "./completion.ts";

test("models' output counts as completion tokens, everything else as prompt tokens", () => {
  const usage = { tokens: 1_000, outputTokens: 150, usd: 0.5, unpriced: false };
  expect(usageOf({ usage })).toEqual({ prompt_tokens: 850, completion_tokens: 150, total_tokens: 1_000 });
  const untold = { tokens: 1_000, usd: 0.5, unpriced: false };
  expect(usageOf({ usage: untold })).toEqual({ prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 });
});

const file = { name: "a[1].md", mediaType: "text/markdown", size: 7, sha256: "a", url: "http://a.example/a" };
const run = (over: Partial<RunView>): RunView => ({
  id: "r",
  name: "manus",
  contextId: "c",
  status: "completed",
  input: "go",
  createdAt: "2026-03-01T12:00:00.999Z",
  updatedAt: "2026-03-01T12:00:01.000Z",
  lastEvent: 1,
  files: [],
  agents: [],
  usage: { tokens: 3, outputTokens: 1, usd: 0, unpriced: false },
  ...over,
});

test.each<readonly [Partial<RunView>, boolean, string]>([
  [{ answer: "It is.\n" }, false, "It is."],
  [{}, false, ""],
  [{ answer: "It is.", files: [file] }, false, "It is.\n\n- [a1.md](http://a.example/a) (7 bytes)"],
  [{ answer: "It is.", data: { n: 0 } }, false, "It is."],
  // Who asked for JSON gets nothing else, files included.
  [{ answer: "It is.", data: { n: 0 }, files: [file] }, true, '{"n":0}'],
  [{ answer: "0", data: 0 }, true, "0"],
  [{ answer: "It is." }, true, "It is."],
  [{ status: "input-required", question: "Which?", answer: "no" }, false, "Which?"],
  [{ status: "auth-required", question: "Sign in.", answer: "no" }, true, "Sign in."],
  [{ status: "input-required" }, false, ""],
])("the content of a run with %j, as JSON: %p, is %p", (over, json, text) => {
  expect(completionText(run(over), { json })).toBe(text);
});

test.each<readonly [Partial<RunView>, string, string]>([
  [{ status: "failed", error: { code: "stuck", message: "It repeats itself." } }, "stuck", "It repeats itself."],
  [{ status: "failed" }, "task_failed", "The run failed."],
  [{ status: "canceled", answer: "half" }, "task_failed", "The run was canceled."],
  ...(["queued", "running", "waiting", "paused"] as const).map(
    (status) => [{ status }, "unavailable", `The run r is ${status}; /runs/r shows it.`] as const,
  ),
])("a run with %j has no content but the error %s", (over, code, message) => {
  try {
    throw new Error(completionText(run(over), { json: false }));
  } catch (error) {
    expect(error).toMatchObject({ code, message });
  }
});

test("of a text that was streamed only the rest is sent, and the body says when and by whom", () => {
  const written = (answer: string) => answer.slice("It ".length);
  expect(completionText(run({ answer: "It is.", files: [file] }), { json: false, written })).toStartWith("is.\n");
  expect(completion(run({ answer: "It is." }), "manus", { json: false })).toMatchObject({
    id: "chatcmpl-r",
    created: 1_772_366_400,
    model: "manus",
    choices: [{ message: { role: "assistant", content: "It is.", refusal: null }, finish_reason: "stop" }],
    usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
  });
});
