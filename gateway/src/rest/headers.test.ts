import { expect, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import { placeOf } from "./event-stream.ts";
import { preferredWait } from "./prefer.ts";
import { problem } from "./problem.ts";

test("a reader that reconnects continues from the header it sends, whatever its first URL said", () => {
  expect([placeOf("7", "2"), placeOf(undefined, "2"), placeOf(undefined, undefined)]).toEqual([7, 2, 0]);
});

test("no request waits longer than five minutes", () => {
  expect([preferredWait("wait=299"), preferredWait("wait=301"), preferredWait("wait=999999")]).toEqual([
    299_000, 300_000, 300_000,
  ]);
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
