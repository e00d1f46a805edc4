import { expect, test } from "bun:test";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { HTTPException } from "hono/http-exception";
import { localCaller } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { placeOf } from "./event-stream.ts";
import { preferredWait, waitSignal } from "./prefer.ts";
import { methodRefused, problem, problemSchema } from "./problem.ts";
import { restApp } from "./rest-app.ts";

test("a reader that reconnects continues from the header it sends, whatever its first URL said", () => {
  expect([placeOf("7", "2"), placeOf(undefined, "2"), placeOf(undefined, undefined)]).toEqual([7, 2, 0]);
});

test("no request waits longer than five minutes", () => {
  expect([preferredWait("wait=299"), preferredWait("wait=301"), preferredWait("wait=999999")]).toEqual([
    299_000, 300_000, 300_000,
  ]);
});

test("waiting ends when its time is up or the caller goes, whichever is first", async () => {
  const gone = new AbortController();
  const waiting = waitSignal(300_000, gone.signal);
  gone.abort(new Error("gone"));
  expect(waiting.reason).toBe(gone.signal.reason);
  const late = waitSignal(1, new AbortController().signal);
  if (!late.aborted) await new Promise((resolve) => late.addEventListener("abort", resolve));
  expect(late.reason).toMatchObject({ name: "TimeoutError" });
});

test("a refusal says when to retry, and how to authenticate", () => {
  const headers = (code: "unavailable" | "unauthorized" | "not_found") => {
    const { headers } = problem(new AppError(code, "No."), () => undefined);
    return [headers.get("Retry-After"), headers.get("WWW-Authenticate")];
  };
  expect(headers("unavailable")).toEqual(["5", null]);
  expect(headers("unauthorized")).toEqual([null, "Bearer"]);
  expect(headers("not_found")).toEqual([null, null]);
});

test.each([
  [undefined, undefined],
  ["respond-async", undefined],
  ["wait=0", 0],
  ["wait=2", 2_000],
  ['respond-async, Wait = "3"; x=1', 3_000],
  ["wait=4, wait=5", 4_000],
  ["await=5", undefined],
  ["wait=5 s", undefined],
] as const)("Prefer: %p asks to wait for %p ms", (header, milliseconds) => {
  expect(preferredWait(header)).toBe(milliseconds as number);
});

test.each(["wait=", "wait=-1", "wait=1.5", "wait=soon", "wait=1000000"])("Prefer: %s is refused", (header) => {
  expect(() => preferredWait(header)).toThrow("Prefer: wait takes a whole number of seconds.");
});

test("a bug is reported and not told; what was refused is told and not reported", async () => {
  const told = async (error: unknown) => {
    const reported: unknown[] = [];
    const response = problem(error, (bug) => reported.push(bug));
    const { status, code, detail, title, retryable } = problemSchema.parse(await response.json());
    expect([response.status, response.headers.get("Content-Type")]).toEqual([status, "application/problem+json"]);
    return [status, title, code, detail, retryable, reported.length];
  };
  const bug = new TypeError("secret is undefined");
  const inside = "Something went wrong inside; the log has the cause.";
  expect(await told(bug)).toEqual([500, "Internal Server Error", "internal", inside, false, 1]);
  expect(await told(new AppError("quota_exceeded", "Full."))).toEqual([
    429,
    "Too Many Requests",
    "quota_exceeded",
    "Full.",
    true,
    0,
  ]);
  expect(await told(new HTTPException(400, { message: "Bad." }))).toEqual([
    400,
    "Bad Request",
    "invalid_input",
    "Bad.",
    false,
    0,
  ]);
  expect((await told(new HTTPException(404)))[3]).toBe("The request cannot be read.");
  expect((await told(new HTTPException(500, { message: "secret" })))[3]).toBe(inside);
  const ours = Object.assign(new RequestMalformedError("x"), { cause: new AppError("unreachable", "Away.") });
  expect(await told(ours)).toEqual([424, "Failed Dependency", "unreachable", "Away.", true, 0]);
  expect((await told(new RequestMalformedError("Odd.")))[3]).toBe("Odd.");
});

test("a method that an address does not take is refused with those it does", async () => {
  const response = methodRefused(["GET", "POST"]);
  expect([response.status, response.headers.get("Allow")]).toEqual([405, "GET, POST"]);
  expect(await response.json()).toMatchObject({ title: "Method Not Allowed", detail: "This address takes GET, POST." });
});

test.each([
  ["application/json", 200],
  ["Application/JSON ; charset=utf-8", 200],
  ["application/merge-patch+json", 200],
  // A page of another site may send these without asking.
  ["text/plain", 415],
  ["text/plain; x=application/json", 415],
  ["application/x-www-form-urlencoded;json", 415],
  ["application/jsonp", 415],
])("a body of the type %s is answered with %i", async (type, status) => {
  const about = { method: "post", path: "/x", tag: "x", summary: "X", answers: {}, problems: [] } as const;
  const echo = endpoint({ ...about, request: { body: z.object({}) } }, (_, c) => c.json({}));
  const app = restApp([echo], { identify: () => localCaller, report: () => undefined });
  const response = await app.request("/x", { method: "POST", headers: { "Content-Type": type }, body: "{}" });
  expect(response.status).toBe(status);
});

test("whoever may not call is refused before anything of the body is read, also at the address with a slash", async () => {
  const about = { method: "post", path: "/x", tag: "x", summary: "X", answers: {}, problems: [] } as const;
  const echo = endpoint({ ...about, request: { body: z.object({}) } }, (_, c) => c.json({}));
  const identify = () => {
    throw new AppError("unauthorized", "Who are you?");
  };
  const app = restApp([echo], { identify, report: () => undefined });
  for (const [path, body] of [
    ["/x", "{"],
    ["/x/", "{}"],
    ["/x", "x".repeat(11_000_000)],
  ] as const)
    expect((await app.request(path, { method: "POST", body })).status).toBe(401);
  const open = restApp([echo], { identify: () => localCaller, report: () => undefined });
  const json = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
  expect((await open.request("/x/", json)).status).toBe(200);
});
