import { expect, test } from "bun:test";
import type { ModelMessage } from "../../core/model.ts";
import { type PromptStyle, toPrompt } from "./to-prompt.ts";

const style: PromptStyle = { of: "anthropic claude", vision: false, cacheMarks: true, imageDetail: "auto" };

test("a turn writes only what is new: what was written before is used again, in the same style only", () => {
  const call = { id: "1", name: "bash", arguments: '{"command":"ls"}' };
  const earlier: ModelMessage[] = [
    { role: "system", text: "Help." },
    { role: "user", parts: [{ type: "text", text: "Look" }] },
    { role: "assistant", text: "", toolCalls: [call] },
  ];
  const result: ModelMessage = { role: "tool", callId: "1", name: "bash", text: "a.txt", isError: false };
  const before = toPrompt({ messages: earlier }, style);
  const after = toPrompt({ messages: [...earlier, result] }, style);
  expect(after.slice(0, 3).every((message, at) => message === before[at])).toBe(true);
  expect(after).toHaveLength(4);
  const elsewhere = toPrompt({ messages: earlier }, { ...style, of: "google gemini" });
  expect(elsewhere.some((message, at) => message === before[at])).toBe(false);
  expect(elsewhere).toEqual(before);
  const marked = toPrompt({ messages: earlier, stableMessages: 2 }, style);
  expect(marked[1]?.providerOptions).toBeDefined();
  expect(before[1]?.providerOptions).toBeUndefined();
});

test("half of a surrogate pair, for which a provider refuses every further request, is replaced wherever it stands", () => {
  const call = { id: "1", name: "bash", arguments: '{"command":"echo \\ud83d"}' };
  const messages: ModelMessage[] = [
    { role: "user", parts: [{ type: "text", text: "a\ud83d" }] },
    { role: "assistant", text: "\ud83d", toolCalls: [call] },
    { role: "tool", callId: "1", name: "bash", text: "\ude00b", isError: false },
  ];
  const text = JSON.stringify(toPrompt({ messages }, style));
  expect(text).not.toMatch(/\\ud[89a-f]/i);
  expect(text).toContain("echo \ufffd");
});

const ours = { vision: true, cacheMarks: false, imageDetail: "auto", of: "us" } as const;
const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });
const call = (id: string) => ({ id, name: "bash", arguments: "{}" });
const result = (callId: string, more: object = {}): ModelMessage => ({
  ...{ role: "tool", callId, name: "bash", text: `of ${callId}`, isError: false },
  ...more,
});
const image = { type: "image", mediaType: "image/png", data: "aW1hZ2U=" } as const;

test("the results of a turn are one message, those of the next another, each told as what it is", () => {
  const messages: ModelMessage[] = [
    user("Go."),
    { role: "assistant", text: "", toolCalls: [call("a"), call("b:1")] },
    result("a"),
    result("b:1", { isError: true }),
    { role: "assistant", text: "", toolCalls: [call("c")] },
    result("c", { text: "", images: [image] }),
    result("d", { text: "" }),
  ];
  const seen = toPrompt({ messages }, ours);
  const told = (prompt: typeof seen) =>
    prompt.map(({ role, content }) => [role, ...(typeof content === "string" ? [] : content.map((part) => part))]);
  const output = (id: string, value: object) => ({
    type: "tool-result",
    toolCallId: id,
    toolName: "bash",
    output: value,
  });
  const made = (id: string) => ({ type: "tool-call", toolCallId: id, toolName: "bash", input: {} });
  const shown = { type: "file", mediaType: "image/png", data: { type: "data", data: "aW1hZ2U=" } };
  const begin = [
    ["user", { type: "text", text: "Go." }],
    ["assistant", made("a"), made("b_1")],
    [
      "tool",
      output("a", { type: "text", value: "of a" }),
      output("b_1", { type: "error-text", value: "Error: of b:1" }),
    ],
    ["assistant", made("c")],
  ];
  const nothing = { type: "text", value: "(nothing)" };
  expect(told(seen) as unknown).toEqual([
    ...begin,
    [
      "tool",
      output("c", { type: "content", value: [{ type: "text", text: "(nothing)" }, shown] }),
      output("d", nothing),
    ],
  ]);
  const unseen = "\n[an image was here; this model cannot see images]";
  expect(told(toPrompt({ messages }, { ...ours, vision: false })) as unknown).toEqual([
    ...begin,
    ["tool", output("c", { type: "text", value: unseen }), output("d", nothing)],
  ]);
});

test("an answer goes back in its provider's order, and as it is where what was carried does not fit it", () => {
  const options = { x: { signature: "s" } };
  const parts = [
    { type: "reasoning", text: "Hm.", options },
    { type: "text", length: 2 },
    { type: "call", options },
    { type: "text", length: 1, options },
    { type: "text", length: 1 },
  ] as const;
  const answer = (text: string, ...calls: string[]): ModelMessage => ({
    ...{ role: "assistant", text, toolCalls: calls.map(call) },
    carried: { of: "us", parts: parts as never },
  });
  const written = (message: ModelMessage) => toPrompt({ messages: [message] }, ours)[0]?.content as unknown;
  const made = (id: string, more: object = {}) => ({
    type: "tool-call",
    toolCallId: id,
    toolName: "bash",
    input: {},
    ...more,
  });
  // White space is left out, unless the provider signed it.
  expect(written(answer("Go  ", "a"))).toEqual([
    { type: "reasoning", text: "Hm.", providerOptions: options },
    { type: "text", text: "Go" },
    made("a", { providerOptions: options }),
    { type: "text", text: " ", providerOptions: options },
  ]);
  for (const [text, ...calls] of [
    ["Go  !", "a"],
    ["Go", "a"],
    ["Go  ", "a", "b"],
  ] as const)
    expect(written(answer(text, ...calls))).toEqual([{ type: "text", text }, ...calls.map((id) => made(id))]);
});

test("marks are set after the instructions before the end of what stays, after what was shared, and at that end", () => {
  const messages: ModelMessage[] = [
    { role: "system", text: "You help." },
    user("Go."),
    { role: "assistant", text: "", toolCalls: [call("a")] },
    result("a"),
    { role: "system", text: "A hint." },
    user("Now."),
  ];
  const marked = (stableMessages: number | undefined, cacheMarks = true) =>
    toPrompt({ messages, ...(stableMessages !== undefined && { stableMessages }) }, { ...ours, cacheMarks }).flatMap(
      ({ providerOptions }, at) => (providerOptions === undefined ? [] : [at]),
    );
  expect([marked(4), marked(2), marked(6), marked(undefined), marked(4, false)]).toEqual([
    [0, 1, 3],
    [0, 1],
    [1, 4, 5],
    [],
    [],
  ]);
});
