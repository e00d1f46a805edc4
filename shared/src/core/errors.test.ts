import { expect, test } from "bun:test";
import { AppError, type ErrorCode, errnoOf, errorCodes, publicError, unlessMissing } from "./errors.ts";

const codesWhere = (holds: (code: ErrorCode) => boolean) => (Object.keys(errorCodes) as ErrorCode[]).filter(holds);

test("only what time, or room, may fix is worth trying again", () => {
  expect(codesWhere((code) => new AppError(code, "").retryable)).toEqual([
    "unreachable",
    "rate_limited",
    "quota_exceeded",
    "model_unavailable",
    "storage_unavailable",
    "unavailable",
    "timeout",
  ]);
});

test.each<readonly [number, readonly ErrorCode[]]>([
  [400, ["invalid_input", "config_invalid"]],
  [401, ["unauthorized"]],
  [403, ["forbidden"]],
  [404, ["not_found"]],
  [409, ["conflict", "run_ended", "interrupted"]],
  [413, ["too_large"]],
  [415, ["unsupported"]],
  [
    422,
    [
      "rejected",
      "step_limit",
      "token_limit",
      "cost_limit",
      "time_limit",
      "hop_limit",
      "stuck",
      "task_failed",
      "context_overflow",
    ],
  ],
  [424, ["unreachable"]],
  [429, ["rate_limited", "quota_exceeded"]],
  [500, ["non_deterministic", "version_missing", "internal"]],
  [502, ["model_rejected", "model_unavailable"]],
  [503, ["storage_unavailable", "unavailable", "sandbox_unavailable"]],
  [504, ["timeout"]],
])("the status %i means %j", (status, codes) => {
  expect(codesWhere((code) => new AppError(code, "").status === status)).toEqual([...codes]);
});

test("an expected error is told with its field, a bug never", () => {
  const error = new AppError("invalid_input", "is wrong", { field: "contextId", cause: "x" });
  expect(publicError(error)).toEqual({ code: "invalid_input", message: "contextId: is wrong" });
  expect([error.field, error.cause]).toEqual(["contextId", "x"]);
  expect(publicError(new AppError("conflict", "Taken."))).toEqual({ code: "conflict", message: "Taken." });
  const hidden = { code: "internal", message: "Something went wrong inside; the log has the cause." } as const;
  for (const bug of [new TypeError("secret"), "secret", { code: "conflict", message: "secret" }])
    expect(publicError(bug)).toEqual(hidden);
});

test("a missing file is none, any other trouble with it is thrown", () => {
  const coded = (code: unknown) => Object.assign(new Error("x"), { code });
  expect(unlessMissing(coded("ENOENT"))).toBeUndefined();
  for (const error of [coded("EACCES"), coded(2), new Error("ENOENT"), { code: "ENOENT" }])
    expect(() => unlessMissing(error)).toThrow();
  expect([errnoOf(coded("EIO")), errnoOf(coded(5)), errnoOf(new Error("x"))]).toEqual(["EIO", undefined, undefined]);
});
