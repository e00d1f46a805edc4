import { expect, test } from "bun:test";
import type { ModelMessage } from "../core/model.ts";
import { imageRuleOf } from "./images.ts";
import { estimateText, estimateTokens } from "./tokens.ts";

const long: ModelMessage = { role: "tool", callId: "a", name: "bash", text: "word ".repeat(1000), isError: false };

test("the estimate is near the usual tokens per word, and the same every time", () => {
  const estimate = estimateTokens([long], []);
  expect(estimate).toBeWithin(800, 1600);
  expect(estimateTokens([long], [])).toBe(estimate);
});

test("every message, call, image and tool adds to it", () => {
  const image = { type: "image", mediaType: "image/png", data: "" } as const;
  const growing: ModelMessage[][] = [
    [],
    [{ role: "system", text: "Be brief." }],
    [{ role: "user", parts: [{ type: "text", text: "Be brief, and look:" }, image] }],
    [{ ...long, images: [image] }],
    [{ role: "user", parts: [image, image] }],
    [{ role: "assistant", text: "", toolCalls: [{ id: "a", name: "write", arguments: "word ".repeat(3000) }] }],
  ];
  const estimates = growing.map((messages) => estimateTokens(messages, []));
  expect(estimates).toEqual(estimates.toSorted((a, b) => a - b));
  expect(new Set(estimates).size).toBe(growing.length);
  const tool = { name: "bash", description: "Runs a command.", inputSchema: { type: "object" } };
  expect(estimateTokens([], [tool])).toBeGreaterThan(5);
});

test("a message is a few tokens more than its texts, and its calls more than their names and arguments", () => {
  const text = "Be brief, and write it down.";
  expect(estimateTokens([{ role: "system", text }], [])).toBe(estimateText(text) + 4);
  const call = { id: "a", name: "write", arguments: '{"path":"a.txt"}' };
  const calls = estimateText(call.name) + estimateText(call.arguments) + 4;
  const asks: ModelMessage = { role: "assistant", text, toolCalls: [call, call] };
  expect(estimateTokens([asks, asks], [])).toBe(2 * (estimateText(text) + 4 + 2 * calls));
});

test("an image counts by the rule of the model that is asked, also in a conversation that another was asked about", () => {
  const square = Buffer.alloc(33);
  square.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 0, "latin1");
  square.writeUInt32BE(100, 16);
  square.writeUInt32BE(100, 20);
  const image = { type: "image", mediaType: "image/png", data: square.toString("base64") } as const;
  const message: ModelMessage = { role: "user", parts: [image] };
  expect(estimateTokens([message], [])).toBe(1104);
  const small = estimateTokens([message], [], imageRuleOf("gpt-4o"));
  expect(small).toBeLessThan(1104);
  expect(estimateTokens([message], [], imageRuleOf("gpt-4o"))).toBe(small);
  expect(estimateTokens([message], [])).toBe(1104);
});

test("thinking that goes back with an answer counts by its texts, not by its signatures", () => {
  const said: ModelMessage = { role: "assistant", text: "Yes.", toolCalls: [] };
  const thought = "Let me think about that for a while.";
  const parts = [
    { type: "reasoning", text: thought, options: { x: { signature: "s".repeat(5_000) } } },
    { type: "call" },
  ];
  const carried = { of: "m", parts } as unknown as NonNullable<(typeof said)["carried"]>;
  expect(estimateTokens([{ ...said, carried }], [])).toBe(estimateTokens([said], []) + estimateText(thought));
});
