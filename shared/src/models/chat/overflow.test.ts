import { expect, test } from "bun:test";
import { APIError } from "openai";
import { classify } from "./classify.ts";
import { overflowShapes, saysOverflow, windowNamed } from "./overflow.ts";

const failing = (status: number | undefined, message: string, more: object = {}) =>
  classify(new APIError(status, { message, ...more }, message, new Headers()), undefined, 0);

test.each(overflowShapes.map((each) => [each.provider, each] as const))(
  "%s's words for a full window are known",
  (_, each) => {
    expect(each.shape.test(each.example)).toBe(true);
    expect(failing(400, each.example).kind).toBe("overflow");
    expect(failing(undefined, each.example).kind).toBe("overflow");
    expect(failing(500, each.example).kind).toBe(each.always ? "overflow" : "unavailable");
  },
);

test("llama.cpp's type alone is enough, and its figures are the advice", () => {
  const error = failing(400, "no", { type: "exceed_context_size_error", n_prompt_tokens: 5123, n_ctx: 4096 });
  expect(error.kind).toBe("overflow");
  expect(error.advice).toContain("context_window = 4096");
});

test("other refusals are no overflow", () => {
  const others = [
    "max_tokens is too large: 99999",
    "the model is overloaded",
    "unknown parameter: context",
    "too many requests",
  ];
  expect(others.filter((text) => saysOverflow(text, { serverError: false }))).toEqual([]);
});

test.each([
  ["This model's maximum context length is 8192 tokens. However, you requested 9001 tokens.", 8192],
  ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
  ["request (5123 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096],
  ["Requested tokens (5123) exceed context window of 4096", 4096],
  ["the model is loaded with context length of only 4096 tokens", 4096],
  ["`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5123", 4097],
  ["longer than the maximum model length of 4096.", 4096],
  ["too large for model with 32768 maximum context length", 32_768],
  ["maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072],
  ["exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
  ["Range of input length should be [1, 30720]", 30_720],
  ["exceeded model token limit: 8192", 8192],
  ["max 40000 tokens at once; this server's maximum context length is 32768", 32_768],
  ["the input length exceeds the context length", undefined],
  ["too many tokens: size limit exceeded by 210", undefined],
])("%p names the window %p", (text, window) => {
  expect(windowNamed(text)).toBe(window);
});
