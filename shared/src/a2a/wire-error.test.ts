import { expect, test } from "bun:test";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import { AppError, type ErrorCode } from "../core/errors.ts";
import { QuotaError } from "../core/runs/quota.ts";
import { FieldViolationsError, httpJsonError, rpcError, toA2AError } from "./wire-error.ts";

const never = () => {
  throw new Error("This is no bug.");
};
/** An error in both forms in which a client gets it. */
function told(error: unknown, report: (bug: unknown) => void = never) {
  const wire = toA2AError(error, report);
  const rpc = rpcError(wire);
  const { status, body } = httpJsonError(wire);
  const { status: name, message } = body.error;
  return { rpc: rpc.code, http: status, name, message, data: rpc.data, details: body.error.details };
}

test.each<readonly [ErrorCode, number, number, string]>([
  ["not_found", -32001, 404, "NOT_FOUND"],
  ["run_ended", -32004, 400, "FAILED_PRECONDITION"],
  ["conflict", -32602, 400, "INVALID_ARGUMENT"],
  ["invalid_input", -32602, 400, "INVALID_ARGUMENT"],
  ["unauthorized", -32603, 401, "UNAUTHENTICATED"],
  ["forbidden", -32603, 403, "PERMISSION_DENIED"],
  ["non_deterministic", -32603, 500, "INTERNAL"],
  ["too_large", -32603, 413, "RESOURCE_EXHAUSTED"],
  ["rate_limited", -32603, 429, "RESOURCE_EXHAUSTED"],
  ["storage_unavailable", -32603, 503, "UNAVAILABLE"],
  ["timeout", -32603, 504, "DEADLINE_EXCEEDED"],
  ["interrupted", -32603, 409, "ABORTED"],
  ["model_rejected", -32603, 502, "INTERNAL"],
])("%s is %i over JSON-RPC, %i and %s over HTTP", (code, rpc, http, name) => {
  expect(told(new AppError(code, "No."))).toMatchObject({ rpc, http, name, message: "No." });
});

test("an error without an equivalent carries its code, whether to try again, and when", () => {
  const infoOf = (error: AppError) => JSON.stringify(told(error));
  for (const error of [new AppError("unavailable", "x"), new AppError("forbidden", "x")]) {
    expect(infoOf(error)).toContain(`"code":"${error.code}","retryable":"${error.retryable}"`);
    expect(infoOf(error)).toContain(`"reason":"${error.code.toUpperCase()}"`);
    expect(infoOf(error)).not.toContain("retryAfter");
  }
  expect(infoOf(new AppError("run_ended", "x"))).toContain('"metadata":{"code":"run_ended"}');
  expect(infoOf(new QuotaError("1 run at once", 5))).toContain('"retryAfter":"5"');
});

test("a wrong field of a message is named in both forms, without its name in the sentence", () => {
  const violations = [{ field: "message.contextId", description: "is not the task's" }];
  const { rpc, http, data, details } = told(new AppError("invalid_input", "is not the task's", { field: "contextId" }));
  expect([rpc, http]).toEqual([-32602, 400]);
  const badRequest = { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: violations };
  expect(data).toContainEqual(badRequest as never);
  expect(details).toContainEqual(badRequest as never);
  const many = Array.from({ length: 200 }, () => ({ field: "field", description: "x" }));
  expect(new FieldViolationsError(many).message).toHaveLength(1_000);
  expect(new FieldViolationsError(many.slice(0, 2)).message).toBe("field: x; field: x");
});

test("a bug is reported and not told, an error of the protocol is passed on", () => {
  const bugs: unknown[] = [];
  const bug = new TypeError("secret");
  expect(told(bug, (one) => bugs.push(one))).toMatchObject({ rpc: -32603, http: 500, name: "INTERNAL" });
  expect(bugs).toEqual([bug]);
  expect(JSON.stringify(told(bug, () => undefined))).not.toContain("secret");
  const foreign = new TaskNotFoundError("No.");
  expect(toA2AError(foreign, never)).toBe(foreign);
});
