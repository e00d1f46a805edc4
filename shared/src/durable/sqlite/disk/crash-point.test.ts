import { expect, test } from "bun:test";
import { crashPointText } from "./crash-point.ts";

test("a crash point is a transaction's number, with a + for after its commit", () => {
  expect(crashPointText.parse("7")).toEqual({ transaction: 7, when: "before" });
  expect(crashPointText.parse("12+")).toEqual({ transaction: 12, when: "after" });
  for (const text of ["", "0", "-1", "7-", "x"]) expect(crashPointText.safeParse(text).success).toBe(false);
});
