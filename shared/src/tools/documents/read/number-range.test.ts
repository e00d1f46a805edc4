import { expect, test } from "bun:test";
import { numberRange } from "./number-range.ts";

test.each<[string | undefined, number, number]>([
  [undefined, 1, 9],
  ["", 1, 9],
  ["3", 3, 3],
  [" 3-7 ", 3, 7],
  ["3 - 7", 3, 7],
  ["7-", 7, 9],
  ["9", 9, 9],
  ["1-9", 1, 9],
  ["8-400", 8, 9],
])("of nine pages the part %p is %d to %d", (part, first, last) => {
  expect(numberRange(part, 9, "page")).toEqual({ first, last });
});

test.each([
  ["0", "There is no page 0: the document has 9 pages."],
  ["10", "There is no page 10: the document has 9 pages."],
  ["10-", "There is no page 10-"],
  ["7-3", "There is no page 7-3"],
  ["-3", 'part is a page (3) or several (3-7, 12-), not "-3".'],
  ["1,3", "part is a page"],
  ["1234567890", "part is a page"],
])("the part %p is refused", (part, message) => {
  expect(() => numberRange(part, 9, "page")).toThrow(
    expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(message) }),
  );
});
