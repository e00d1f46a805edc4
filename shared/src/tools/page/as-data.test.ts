import { expect, test } from "bun:test";
import { headAndTail } from "./as-data.ts";

test("of a long text its beginning and its end are shown, with how much is missing between", () => {
  const text = `${"a".repeat(80)}${"b".repeat(50)}${"c".repeat(20)}`;
  expect(headAndTail(text, 100)).toBe(`${"a".repeat(80)}\n[… 50 characters left out …]\n${"c".repeat(20)}`);
});

test("a text that just fits is whole, one character more is not", () => {
  expect(headAndTail("x".repeat(100), 100)).toBe("x".repeat(100));
  expect(headAndTail("x".repeat(101), 100)).toContain("[… 1 character left out …]");
});

test("no character is cut in two, at the beginning or at the end", () => {
  for (const shift of ["", "x"]) {
    const cut = headAndTail(`${shift}${"😀".repeat(100)}`, 50);
    expect(cut.isWellFormed()).toBe(true);
    const shown = cut.replace(/\n.*\n/, "").length;
    expect(cut).toContain(`[… ${200 + shift.length - shown} characters left out …]`);
  }
});
