import { expect, test } from "bun:test";
import { exitCodeOf } from "./exit-code.ts";

test("a script learns from the exit code how a task ended: well, failed, refused or waiting, or canceled", () => {
  const states = ["completed", "failed", "rejected", "input-required", "auth-required", "canceled"] as const;
  expect(states.map(exitCodeOf)).toEqual([0, 1, 3, 3, 3, 130]);
});
