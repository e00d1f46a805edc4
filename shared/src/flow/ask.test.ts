import { expect, test } from "bun:test";
import type { AskOutcome } from "../core/events/ask-outcome.ts";
import { isFinal, outcomeText } from "./ask.ts";

const failed = (code: string): Pick<AskOutcome, "state" | "error"> =>
  ({ state: "failed", error: { code, message: "why" } }) as Pick<AskOutcome, "state" | "error">;

test.each([
  ...["hop_limit", "unauthorized", "forbidden", "rejected", "unsupported", "too_large"].map(
    (code) => [code, true] as const,
  ),
  ...["unavailable", "storage_unavailable"].map((code) => [code, true] as const),
  ...["task_failed", "step_limit", "rate_limited", "timeout", "model_unavailable"].map(
    (code) => [code, false] as const,
  ),
])("an ask that failed with %s would fail the same way again: %p", (code, final) => {
  expect(isFinal(failed(code))).toBe(final);
});

test("what completed is not final, and neither is an end without an error", () => {
  expect(isFinal({ ...failed("forbidden"), state: "completed" })).toBe(false);
  expect(isFinal({ state: "canceled" } as AskOutcome)).toBe(false);
});

test("an outcome in words names the agent, its end and the error", () => {
  const outcome = (state: string, error?: object) => ({ agent: "swe", state, ...(error && { error }) }) as AskOutcome;
  expect(outcomeText(outcome("timed-out"))).toBe("swe did not answer in time");
  expect(outcomeText(outcome("canceled"))).toBe("swe canceled");
  expect(outcomeText(outcome("failed", { code: "timeout", message: "late" }))).toBe("swe failed: late");
});
