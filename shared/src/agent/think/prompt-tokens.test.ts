import { expect, test } from "bun:test";
import type { Part } from "../../core/message.ts";
import type { AgentState, TaskMessage } from "../task/agent-state.ts";
import { messageTokens, promptTokens, viewTokens } from "./prompt-tokens.ts";

const words = "The quick brown fox jumps over the lazy dog. ".repeat(20);
const said = (...parts: Part[]): TaskMessage => ({ role: "user", parts });
const text = (of: string): Part => ({ type: "text", text: of });
const shown = (mediaType?: string): Part =>
  ({ type: "file", name: "a", size: 1, sha256: "0", ...(mediaType && { mediaType }) }) as Part;
const called = (args: string, count = 1): TaskMessage => ({
  role: "assistant",
  text: "",
  toolCalls: Array.from({ length: count }, (_, n) => ({ id: `c${n}`, name: "act", arguments: args })) as never,
});
const result = (of: string): TaskMessage => ({ role: "tool", callId: "c", name: "act", text: of, isError: false });
const bare = messageTokens(said());
const wordsAlone = messageTokens(said(text(words))) - bare;

test("a message counts all it has: its words, data, calls and results, each image like many words, another file a little", () => {
  expect([bare, wordsAlone > 150, wordsAlone < 300]).toEqual([4, true, true]);
  expect(messageTokens(said(text(words), text(words)))).toBe(bare + 2 * wordsAlone);
  expect(messageTokens(result(words))).toBe(bare + wordsAlone);
  expect(messageTokens({ role: "assistant", text: words, toolCalls: [] })).toBe(bare + wordsAlone);
  const data = messageTokens(said({ type: "data", data: { words } }));
  expect(data).toBeGreaterThanOrEqual(bare + wordsAlone);
  const one = messageTokens(called(words));
  expect(one).toBeGreaterThanOrEqual(bare + wordsAlone);
  expect(messageTokens(called(words, 3)) - bare).toBe(3 * (one - bare));
  const images = [shown("image/png"), shown("application/pdf"), shown()].map(
    (part) => messageTokens(said(part)) - bare,
  );
  expect(images).toEqual([1_000, 32, 32]);
});

test("the reasoning that a provider wants back counts", () => {
  const carried = { parts: [{ text: words }] } as never;
  const without = messageTokens({ role: "assistant", text: words, toolCalls: [] });
  expect(messageTokens({ role: "assistant", text: words, toolCalls: [], carried })).toBeGreaterThan(without + 100);
});

test("what shows something counts with each of its images", () => {
  const view = (images?: number) =>
    viewTokens({ ...result(words), ...(images !== undefined && { images: Array(images).fill({}) }) } as never);
  expect([view(), view(0), view(2)]).toEqual([bare + wordsAlone, bare + wordsAlone, bare + wordsAlone + 2_000]);
});

test("a prompt is what the provider counted, what came after, and hints as long as the last", () => {
  const messages = [said(text(words)), called("{}"), result(words)];
  const task = (measured: number, tailTokens = 0) =>
    promptTokens({ messages, measured: { tokens: 5_000, messages: measured }, tailTokens } as unknown as AgentState);
  expect([task(3), task(3, 70)]).toEqual([5_000, 5_070]);
  expect(task(2)).toBe(5_000 + bare + wordsAlone);
  expect(task(0, 70)).toBe(5_070 + messages.reduce((sum, message) => sum + messageTokens(message), 0));
});
