import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { failureAnswer } from "./proxy-page.ts";

test.each([
  ["forbidden", 403],
  ["invalid_input", 403],
  ["rate_limited", 503],
  ["timeout", 504],
  ["unavailable", 502],
] as const)("what fails as %s is answered with %d and its reason", (code, status) => {
  expect(failureAnswer(new AppError(code, "why"))).toEqual({ status, text: "why" });
});

test("an unexpected failure is a bad gateway, without its own words", () => {
  const { status, text } = failureAnswer(new Error("secret detail"));
  expect(status).toBe(502);
  expect(text).not.toContain("secret detail");
});
