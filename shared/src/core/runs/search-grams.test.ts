import { expect, test } from "bun:test";
import fc from "fast-check";
import { hasWords } from "../events/event-text.ts";
import { addGrams, gramsOfWords } from "./search-grams.ts";

function mayHave(text: string, words: readonly string[]): boolean {
  const grams = new Set<number>();
  addGrams(text, grams);
  return gramsOfWords(words).every((gram) => grams.has(gram));
}

test("a text that has the words is never left out, whatever they are", () => {
  const letters = fc.constantFrom(..."abcABC ß İ Σ ς 数据库 分析 ひらがな 한국어 😀 e\u0301 1_%\n\t".split(""));
  const texts = fc.string({ unit: letters, maxLength: 40 });
  const cut = fc.tuple(texts, fc.nat(40), fc.nat(40)).map(([text, from, length]) => ({
    text,
    words: text
      .slice(from, from + length)
      .split(/\s+/)
      .filter((word) => word !== "" && hasWords(text, [word])),
  }));
  fc.assert(fc.property(cut, ({ text, words }) => mayHave(text, words)));
  const long = "pneumonoultramicroscopicsilicovolcanoconiosis";
  expect(mayHave(`It was ${long.toUpperCase()}.`, [long])).toBe(true);
});

test("a text that lacks them is left out, also if the words are two Chinese characters", () => {
  expect(mayHave("销售数据的分析", ["数据"])).toBe(true);
  expect(mayHave("据说数字", ["数据"])).toBe(false);
  expect(mayHave("The harbour of Oslo", ["harbor"])).toBe(false);
  expect(gramsOfWords(["ab", "数"])).toEqual([]);
});
