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

test("a word of two characters of a language without spaces has a number, and one of two letters has none", () => {
  const without = ["ぁ", "ゟ", "ァ", "ヿ", "㐀", "䶿", "一", "鿿", "가", "힣", "豈", "\u{faff}"];
  const spaced = ["a", "ß", "Я", "א", "ก", "〿", "ㄱ", "㏿", "ꀀ", "ힰ", "\ue000", "ﬀ"];
  const numbers = (character: string) => gramsOfWords([character + character]).length;
  expect(without.filter((character) => numbers(character) !== 2)).toEqual([]);
  expect(spaced.filter((character) => numbers(character) !== 0)).toEqual([]);
});

test("blanks of every kind part words, and nothing else does", () => {
  for (const blank of [" ", "\t", "\n", "\u00a0", "\u2003", "\u3000"]) {
    expect([blank, gramsOfWords([`ab${blank}cd`])]).toEqual([blank, []]);
    expect(mayHave(`the${blank}harbor`, ["harbor"])).toBe(true);
  }
  for (const mark of ["!", "-", "\u0080", "\u200b"]) expect(gramsOfWords([`ab${mark}cd`])).toHaveLength(3);
});

test("stores keep the numbers, so that they are the same in every release", () => {
  expect(gramsOfWords(["Harbor", "数据"])).toEqual([9481887, 13123578, 3146358, 15387587, 7304959, 10457038]);
});

test("of a long word some numbers are looked up, from its beginning to its end", () => {
  const word = "abcdefghijklmnopqrstuvwxyz0123456789";
  const all = gramsOfWords([word], 99);
  expect(all).toHaveLength(word.length - 2);
  expect(gramsOfWords([word], 4)).toEqual([0, 8, 17, 25].map((at) => all[at] ?? -1));
  expect(gramsOfWords([word])).toHaveLength(16);
});
