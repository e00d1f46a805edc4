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
