import { expect, test } from "bun:test";
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { AppError } from "../../../core/errors.ts";
import { serverFailure } from "./failure-words.ts";

const http = (status: number) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `status ${status}`, { status });
const posted = (status: number, body: string) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${body}`, { status });
const invalid = (what: string) => new SdkError(SdkErrorCode.InvalidResult, `Invalid result for tools/list: ${what}`);
const issue = (...path: (string | number)[]) => ({ code: "invalid_type", path, message: "Invalid input" });
const issues = JSON.stringify([issue("tools", 9, "inputSchema"), issue(), issue("a"), issue("b")], undefined, 2);
const said =
  "its answer to tools/list does not have the form that MCP prescribes (tools.9.inputSchema: Invalid input; Invalid input; a: Invalid input; …).";
const probe = (why: string) =>
  new SdkError(SdkErrorCode.EraNegotiationFailed, `Version negotiation probe failed: ${why}`);
const login = "`bun manyhands mcp login web`.";

test.each<[string, unknown, string | undefined, string, string]>([
  ["ours", new AppError("timeout", "It took too long."), undefined, "timeout", "It took too long."],
  ["ours of a person", new AppError("unauthorized", "Sign in."), undefined, "unauthorized", "Sign in."],
  ["ours of another kind", new AppError("internal", "Odd."), undefined, "unavailable", "Odd."],
  ["ours of a program that ended", new AppError("timeout", "x"), "it ended", "unavailable", "it ended."],
  ["a refused sign-in", new UnauthorizedError("x"), undefined, "unauthorized", `it wants you to sign in: ${login}`],
  ["status 401", http(401), undefined, "unauthorized", `it wants you to sign in: ${login}`],
  ["status 500", http(500), undefined, "unavailable", "it answered with HTTP 500: status 500"],
  ["a program's status", http(500), "it ended", "unavailable", "it ended."],
  ["a status and nothing else", posted(404, ""), undefined, "unavailable", "it answered with HTTP 404."],
  ["a status with words", posted(502, "boom"), undefined, "unavailable", "it answered with HTTP 502: boom"],
  ["a result of another form", invalid(issues), undefined, "unavailable", said],
  ["a result of no known form", invalid("[x"), undefined, "unavailable", "Invalid result for tools/list: [x"],
  [
    "a scope",
    new InsufficientScopeError({ requiredScope: "a\u200b b" }),
    undefined,
    "unauthorized",
    `it wants you to sign in for more (a b): ${login}`,
  ],
  [
    "no scope",
    new InsufficientScopeError({}),
    undefined,
    "unauthorized",
    `it wants you to sign in for more (no scope named): ${login}`,
  ],
  [
    "nobody there",
    probe("ECONNREFUSED: Unable to connect. Is the computer able to access the url?"),
    undefined,
    "unavailable",
    "it cannot be reached: ECONNREFUSED: Unable to connect.",
  ],
  ["no answer at all", probe("refused"), undefined, "unavailable", "it cannot be reached: refused."],
  ["a program that never spoke", probe("closed"), "it ended", "unavailable", "it ended."],
  ["silence", new SdkError(SdkErrorCode.RequestTimeout, "x"), undefined, "timeout", "it did not answer in time."],
  [
    "an error",
    new ProtocolError(-32000, "no\nlicense"),
    undefined,
    "unavailable",
    "it answered with an error: no license",
  ],
  ["anything else", "odd\u001b[2J\n", undefined, "unavailable", "odd"],
])("the failure of %s is told in words: %#", (_, error, ending, code, words) => {
  const failure = serverFailure("web", error, ending);
  expect([failure.code, failure.message, failure.cause]).toEqual([
    code as never,
    `The MCP server web: ${words}`,
    error,
  ]);
});

test("a server's words are bounded", () => {
  expect(serverFailure("web", new Error("x".repeat(5_000)), undefined).message.length).toBeLessThan(1_100);
});
