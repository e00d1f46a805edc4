import { expect, test } from "bun:test";
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { AppError } from "../../core/errors.ts";
import { inProtocolWords, invalidParams } from "./invalid-params.ts";

const { InvalidParams, InternalError } = ProtocolErrorCode;

test.each<[string, unknown, number, string, boolean]>([
  [
    "a mistake of the client",
    new AppError("invalid_input", "No such run."),
    InvalidParams,
    "No such run. (invalid_input)",
    false,
  ],
  ["what is not there", new AppError("not_found", "No such run."), InvalidParams, "No such run. (not_found)", false],
  ["a fault of ours that is known", new AppError("unavailable", "Away."), InternalError, "Away. (unavailable)", false],
  ["the protocol's own", invalidParams("Odd."), InvalidParams, "Odd.", false],
])("%s is told with its code", async (_, error, code, message, isReported) => {
  const reported: unknown[] = [];
  const work = inProtocolWords(
    () => Promise.reject(error),
    (bug) => void reported.push(bug),
  );
  await expect(work).rejects.toMatchObject({ code, message });
  expect(reported.length > 0).toBe(isReported);
});

test("a bug is reported, and told without its text; what works is passed on", async () => {
  const reported: unknown[] = [];
  const report = (bug: unknown) => void reported.push(bug);
  const bug = new TypeError("a secret of ours");
  const told = await inProtocolWords(() => Promise.reject(bug), report).catch((error) => error);
  expect([told.code, told.message.includes("secret"), reported]).toEqual([InternalError, false, [bug]]);
  expect(await inProtocolWords(async () => 7, report)).toBe(7);
});
