import { expect, test } from "bun:test";
import { ModelAway, ModelFailure, mayPass } from "./model-failure.ts";

test.each([
  ["Wrong key", "Wrong key. Do this."],
  ["Wrong key.", "Wrong key. Do this."],
  ["Wrong key!", "Wrong key! Do this."],
  ["密钥错误。", "密钥错误。 Do this."],
] as const)("what the provider says and the advice are two sentences: %s", (said, whole) => {
  const failure = new ModelFailure("rejected", said, { advice: "Do this." });
  expect(failure.toAppError({ name: "m", provider: "p" }).message).toBe(`Model m at p: ${whole}`);
});

test.each([
  ["rate-limited", true, "rate_limited", true],
  ["unavailable", true, "model_unavailable", true],
  ["unreached", true, "model_unavailable", false],
  ["cut", true, "model_unavailable", true],
  ["quota", false, "model_rejected", undefined],
  ["rejected", false, "model_rejected", undefined],
  ["overflow", false, "context_overflow", undefined],
] as const)("a model that is %s may recover (%p), and its callers see %s", (kind, passes, code, wasReached) => {
  const failure = new ModelFailure(kind, "why", { retryAfterMs: 7, advice: "Do this." });
  const error = failure.toAppError({ name: "m", provider: "p" });
  expect([mayPass(failure), error.code, error.message]).toEqual([passes, code, "Model m at p: why. Do this."]);
  expect(error instanceof ModelAway ? [error.wasReached, error.retryAfterMs] : undefined).toEqual(
    wasReached === undefined ? undefined : [wasReached, 7],
  );
});
