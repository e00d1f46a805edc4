import { expect, test } from "bun:test";
import { clipped, maxShown, numberLines } from "./numbered-lines.ts";

/** What stands between the heading and the last newline. */
const bodyOf = (content: string, firstLine?: number) =>
  numberLines(content, "a.txt", firstLine)
    .replace("Here's the result of running `cat -n` on a.txt:\n", "")
    .slice(0, -1);

test("lines are numbered from the first that is shown, without the ends of Windows lines", () => {
  expect(bodyOf("a\r\nb\n", 9)).toBe("     9\ta\n    10\tb\n    11\t");
});

test("what fits to the character is shown whole; of one character more the last line is left to a further view", () => {
  // A number and a tab take seven characters, and each line counts its newline.
  const first = "x".repeat(5_000 - 8);
  const fits = `${first}\n${"y".repeat(maxShown - 5_000 - 8)}`;
  expect(bodyOf(fits)).not.toContain(clipped);
  const told = bodyOf(`${fits}y`, 3);
  expect(told).toStartWith(`     3\t${first}${clipped}`);
  expect(told).toContain("Lines 3 to 3 are shown. Read on with view_range [4, -1].");
});

test("of a line that is too long its beginning is shown, without half a character", () => {
  const told = bodyOf(`${"x".repeat(maxShown - 8)}𝄞${"y".repeat(9)}\nnext`, 5);
  expect(told).toStartWith(`     5\t${"x".repeat(maxShown - 8)}${clipped}`);
  expect(told).toContain("Line 5 is too long to be shown whole. Read on with view_range [6, -1].");
});
