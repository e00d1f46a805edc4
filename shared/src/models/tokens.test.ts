import { expect, test } from "bun:test";
import type { ModelMessage } from "../core/model.ts";
import { estimateTokens } from "./tokens.ts";

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
