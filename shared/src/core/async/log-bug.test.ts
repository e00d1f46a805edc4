import { expect, test } from "bun:test";
import { AppError } from "../errors.ts";
import { logBug } from "./log-bug.ts";

test("a bug in the background is logged with its cause, an expected failure is not", async () => {
  const logged: unknown[] = [];
  const caught = logBug({ error: (...said: unknown[]) => void logged.push(said) }, "It could not be told.");
  const bug = new TypeError("a bug");
  for (const error of [new AppError("unavailable", "away"), bug]) await Promise.reject(error).catch(caught);
  expect(logged).toEqual([[{ err: bug }, "It could not be told."]]);
});
