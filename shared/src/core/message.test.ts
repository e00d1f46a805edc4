import { expect, test } from "bun:test";
import { inWords, type Part, textOf } from "./message.ts";

const file = { type: "file", name: "a.csv", mediaType: "text/csv", size: 3, sha256: "0" } as const;
const parts: readonly Part[] = [
  { type: "text", text: "one" },
  file,
  { type: "data", data: { a: 1 } },
  { type: "url", url: "https://a.example/" },
  { type: "text", text: "two" },
];

test("a message's text is its text parts, one below the other", () => {
  expect(textOf(parts)).toBe("one\ntwo");
});

test("each part has words for a model", () => {
  expect(parts.map(inWords)).toEqual([
    "one",
    "[Attached file: a.csv (text/csv, 3 bytes)]",
    '{"a":1}',
    "[Attached link: https://a.example/]",
    "two",
  ]);
});
