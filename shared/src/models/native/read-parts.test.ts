import { expect, test } from "bun:test";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { readParts, saysSomething } from "./read-parts.ts";

/** What these parts are read as, and the pieces that came meanwhile. */
async function read(...parts: readonly object[]) {
  async function* source() {
    yield* parts as readonly LanguageModelV4StreamPart[];
  }
  const going = readParts(source(), "us");
  const pieces: object[] = [];
  for (;;) {
    const next = await going.next();
    if (next.done === true) return { pieces, answer: next.value };
    pieces.push(next.value);
  }
}
const finish = (unified: string, raw?: string, usage?: object) => ({
  type: "finish",
  finishReason: { unified, raw },
  usage,
});
const signed = (signature: string) => ({ anthropic: { signature } });

test.each([
  ["stop", "end_turn", "stop"],
  ["tool-calls", "tool_use", "stop"],
  ["length", "max_tokens", "length"],
  ["content-filter", "SAFETY", "content-filter"],
  ["other", "a new reason", "stop"],
  ["other", undefined, undefined],
])("an answer that ends with %s, in the provider's word %p, ends as %p", async (unified, raw, ended) => {
  expect((await read(finish(unified, raw))).answer.finish).toBe(ended as "stop");
});

test.each([
  [[], {}, "The model refused to answer, and gave no reason."],
  [[], { explanation: "It would harm." }, "It would harm."],
  [["First, "], { explanation: "It would harm." }, "First, \n\nIt would harm."],
  [["I will not do that."], {}, "I will not do that."],
])("an answer %j that ends with a refusal %j says why, and calls nothing", async (texts, details, text) => {
  const { pieces, answer } = await read(
    ...texts.map((delta) => ({ type: "text-delta", id: "0", delta })),
    { type: "tool-call", toolCallId: "a", toolName: "bash", input: "{}", providerMetadata: signed("a call") },
    { ...finish("content-filter", "refusal"), providerMetadata: { anthropic: { stopDetails: details } } },
  );
  expect(answer).toMatchObject({ text, toolCalls: [], refused: true, finish: "stop" });
  expect(answer).not.toHaveProperty("carried");
  const told = pieces as { type: string; text: string }[];
  expect(told.flatMap((piece) => (piece.type === "text-delta" ? piece.text : [])).join("")).toBe(text);
});

test("a refusal in place of a text is the text; beside another text it is a part of it, and nothing is refused", async () => {
  const refusing = (delta: string) => ({ type: "raw", rawValue: { type: "response.refusal.delta", delta } });
  const alone = await read({ type: "text-start", id: "m" }, refusing("I will "), refusing("not."), finish("stop"));
  expect(alone.answer).toMatchObject({ text: "I will not.", refused: true, finish: "stop" });
  expect(alone.pieces).toEqual(["I will ", "not."].map((text) => ({ type: "text-delta", text })));
  const { answer } = await read({ type: "text-delta", id: "m", delta: "Here. " }, refusing("No more."), finish("stop"));
  expect(answer).toMatchObject({ text: "Here. No more." });
  expect(answer).not.toHaveProperty("refused");
  const other = { type: "raw", rawValue: { type: "response.output_text.delta", delta: "x" } };
  expect((await read(other, finish("stop"))).answer.text).toBe("");
  const says = (part: object) => saysSomething(part as LanguageModelV4StreamPart);
  expect([says(refusing("x")), says(other)]).toEqual([true, false]);
});

test("an answer that ends without a word broke off, one that ends in an error is unavailable, and an error is thrown as it is", async () => {
  expect((await read({ type: "text-delta", id: "0", delta: "x" })).answer.finish).toBeUndefined();
  await expect(read(finish("error", "MALFORMED"))).rejects.toMatchObject({
    kind: "unavailable",
    message: "the answer ended in an error (MALFORMED)",
  });
  const error = { type: "overloaded_error" };
  await expect(read({ type: "error", error })).rejects.toBe(error);
});

test("blocks keep their order and their own text, also where a provider uses an id again", async () => {
  const { pieces, answer } = await read(
    ...["Let ", "me "].map((delta) => ({ type: "text-delta", id: "0", delta })),
    { type: "text-end", id: "0", providerMetadata: signed("first") },
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-delta", id: "0", delta: "Hm." },
    { type: "reasoning-delta", id: "0", delta: "" },
    { type: "reasoning-end", id: "0", providerMetadata: signed("of the thought") },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "see." },
    { type: "text-end", id: "0", providerMetadata: signed("second") },
    { type: "reasoning-start", id: "1" },
    { type: "reasoning-delta", id: "1", delta: "Nobody signed this." },
    finish("stop", "end_turn"),
  );
  expect([answer.text, answer.reasoning]).toEqual(["Let me see.", "Hm.Nobody signed this."]);
  expect(answer.carried as unknown).toEqual({
    of: "us",
    parts: [
      { type: "text", length: 7, options: signed("first") },
      { type: "reasoning", text: "Hm.", options: signed("of the thought") },
      { type: "text", length: 4, options: signed("second") },
    ],
  });
  expect(pieces.map((piece) => (piece as { type: string }).type)).toEqual(
    ["text", "text", "reasoning", "text", "reasoning"].map((type) => `${type}-delta`),
  );
});

test("what a provider says of a block in several parts is kept together, once, and nothing where it says nothing", async () => {
  const said = [
    { openai: { itemId: "i", key: null }, bedrock: { itemId: "i" } },
    { openai: { more: 1, itemId: undefined } },
    { other: { x: null } },
  ];
  const { answer } = await read(
    { type: "reasoning-start", id: "0", providerMetadata: said[0] },
    { type: "reasoning-delta", id: "0", delta: "a", providerMetadata: said[1] },
    { type: "reasoning-end", id: "0", providerMetadata: said[2] },
    finish("stop", "stop"),
  );
  expect(answer.carried?.parts as unknown).toEqual([
    { type: "reasoning", text: "a", options: { openai: { itemId: "i", more: 1 } } },
  ]);
  const unsigned = await read({ type: "text-delta", id: "0", delta: "a", providerMetadata: { x: { y: null } } });
  expect(unsigned.answer).not.toHaveProperty("carried");
});

test("a call is what its provider says of it at last, told by its place among the calls", async () => {
  const { pieces, answer } = await read(
    { type: "text-delta", id: "t", delta: "x" },
    { type: "reasoning-delta", id: "r", delta: "y" },
    { type: "tool-input-start", id: "a", toolName: "bash" },
    { type: "tool-input-delta", id: "a", delta: '{"n":' },
    { type: "tool-input-start", id: "b", toolName: "look" },
    { type: "tool-input-delta", id: "b", delta: "{}" },
    { type: "tool-input-delta", id: "a", delta: "1}" },
    { type: "tool-call", toolCallId: "a", toolName: "bash", input: '{"n": 1}', providerMetadata: signed("s") },
    { type: "tool-call", toolCallId: "b", toolName: "look", input: "{}" },
    { type: "tool-call", toolCallId: "c", toolName: "late", input: '{"whole": true}' },
    finish("tool-calls", "tool_use"),
  );
  expect(answer.toolCalls).toEqual([
    { id: "a", name: "bash", arguments: '{"n": 1}' },
    { id: "b", name: "look", arguments: "{}" },
    { id: "c", name: "late", arguments: '{"whole": true}' },
  ]);
  const told = pieces.slice(2).map((piece) => {
    const { index, name, arguments: text } = piece as { index: number; name: string; arguments: string };
    return [index, name, text];
  });
  expect(told).toEqual([
    ...[
      [0, "bash", ""],
      [0, "bash", '{"n":'],
      [1, "look", ""],
      [1, "look", "{}"],
    ],
    ...[
      [0, "bash", "1}"],
      [2, "late", '{"whole": true}'],
    ],
  ]);
  expect(answer.carried?.parts as unknown).toEqual([
    { type: "text", length: 1 },
    { type: "call", options: signed("s") },
    { type: "call" },
    { type: "call" },
  ]);
});

test("tokens are those that the provider counted; what it did not say is left out", async () => {
  const usage = { inputTokens: { total: 9, cacheRead: 5, cacheWrite: 3 }, outputTokens: { total: 2 } };
  expect((await read(finish("stop", "stop", usage))).answer.usage).toEqual({
    input: 9,
    cached: 5,
    cacheWrite: 3,
    output: 2,
  });
  expect((await read()).answer.usage).toEqual({
    input: undefined,
    cached: undefined,
    cacheWrite: undefined,
    output: undefined,
  });
});

test.each([
  ["text-delta", true],
  ["reasoning-start", true],
  ["tool-input-start", true],
  ["stream-start", false],
  ["response-metadata", false],
  ["finish", false],
])("a part of type %s says something of the answer: %p", (type, says) => {
  expect(saysSomething({ type } as LanguageModelV4StreamPart)).toBe(says);
});
