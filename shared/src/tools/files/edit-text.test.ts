import { expect, test } from "bun:test";
import { insertText, replaceText } from "./edit-text.ts";

const numbers = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

test("a replacement changes one place and shows four lines around it", () => {
  expect(replaceText(numbers, "6\n", "six\nsix and a half\n", "f")).toEqual({
    text: "1\n2\n3\n4\n5\nsix\nsix and a half\n7\n8\n9\n10\n",
    snippet: "2\n3\n4\n5\nsix\nsix and a half\n7\n8\n9\n10\n",
    firstLine: 2,
  });
});

test("nothing in a replacement is special, and tabs stay tabs", () => {
  expect(replaceText("a\tb\tc", "\tb", "\t$&$1$`", "f").text).toBe("a\t$&$1$`\tc");
});

test("a text that occurs more than once is refused with the line of each place, even if it spans lines", () => {
  expect(() => replaceText("x\ny\nx\ny\n", "x\ny", "z", "f")).toThrow(
    "No replacement was performed. Multiple occurrences of old_str `x\ny` in lines [1, 3]. Please ensure it is unique",
  );
  expect(() => replaceText("aa aa", "aa", "b", "f")).toThrow("in lines [1, 1].");
});

test("a text that is not found, empty, or the same as the new one is refused", () => {
  expect(() => replaceText("a", "b", "c", "dir/f")).toThrow(
    "No replacement was performed, old_str `b` did not appear verbatim in dir/f.",
  );
  expect(() => replaceText("a", "", "c", "f")).toThrow("must not be empty");
  expect(() => replaceText("a", "a", "a", "f")).toThrow("is the same as old_str");
});

test("plain line endings match Windows ones, which are kept", () => {
  const text = "one\r\ntwo\r\nthree\r\n";
  expect(replaceText(text, "one\ntwo\n", "1\n2\n", "f").text).toBe("1\r\n2\r\nthree\r\n");
  expect(replaceText(text, "two\r\nthree", "2\r\n3", "f").text).toBe("one\r\n2\r\n3\r\n");
  expect(insertText(text, 1, "and a half").text).toBe("one\r\nand a half\r\ntwo\r\nthree\r\n");
  expect(insertText(text, 4, "end").text).toBe("one\r\ntwo\r\nthree\r\n\r\nend");
});

test("a carriage return that ends no line is a character like others", () => {
  expect(replaceText("10 %\r20 %\r\nend\r\n", "20 %\nend", "done", "f").text).toBe("10 %\rdone\r\n");
  expect(() => replaceText("a\rb", "ab", "c", "f")).toThrow("did not appear verbatim");
});

test("in a text with mixed line endings, those outside the edit stay unchanged", () => {
  const text = "a\r\nb\nc\r\nd\ne\n";
  expect(replaceText(text, "c\nd", "C\nD", "f").text).toBe("a\r\nb\nC\nD\ne\n");
  expect(insertText(text, 3, "x").text).toBe("a\r\nb\nc\r\nx\nd\ne\n");
  expect(replaceText("a\r\nb\r\nc\n", "b\n", "", "f").text).toBe("a\r\nc\n");
});

test("an insertion goes after its line, at the start, at the end", () => {
  expect(insertText("a\nb", 0, "x").text).toBe("x\na\nb");
  expect(insertText("a\nb", 1, "x\ny").text).toBe("a\nx\ny\nb");
  expect(insertText("a\nb", 2, "x").text).toBe("a\nb\nx");
  expect(insertText("a\nb\n", 2, "x").text).toBe("a\nb\nx\n");
  expect(insertText("", 0, "x").text).toBe("x\n");
});

test("an insertion shows four lines before and after", () => {
  const { snippet, firstLine } = insertText(numbers, 5, "new");
  expect([snippet, firstLine]).toEqual(["2\n3\n4\n5\nnew\n6\n7\n8\n9", 2]);
});

test("a line number out of range is refused with the valid range", () => {
  for (const line of [-1, 4])
    expect(() => insertText("a\nb\nc", line, "x")).toThrow(
      `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, 3]`,
    );
});

test("what would overlap itself is there once", () => {
  expect(replaceText("aaa", "aa", "b", "a.txt").text).toBe("ba");
  expect(() => replaceText("aaaa", "aa", "b", "a.txt")).toThrow("Multiple occurrences");
});
