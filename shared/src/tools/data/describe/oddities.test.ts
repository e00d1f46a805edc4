import { expect, test } from "bun:test";
import { codeForms } from "./codes.ts";
import { impossibleDates, strangeDates } from "./dates.ts";
import { timeGaps } from "./gaps.ts";
import { strangeNumbers } from "./numbers.ts";
import type { ColumnProfile, Oddity } from "./oddity.ts";
import { numbersAsText, untidyTexts } from "./texts.ts";
import { totalRows } from "./totals.ts";

const column = (more: Partial<ColumnProfile> = {}): ColumnProfile => ({
  name: "amount",
  type: "VARCHAR",
  distinct: 5,
  quartiles: undefined,
  ...more,
});
/** What is said when these are the counts; every example is its name. */
const said = (
  oddity: Oddity,
  counts: Readonly<Record<string, number>>,
  of = column(),
  example = (name: string) => name,
) => oddity.say((name) => counts[name] ?? 0, example, of);

test("a check applies to columns of its own kind", () => {
  const kinds: readonly [Oddity, string, readonly string[]][] = [
    [impossibleDates, "VARCHAR", ["DATE", "BIGINT", "VARCHAR[]"]],
    [numbersAsText, "VARCHAR", ["DOUBLE", "DATE"]],
    [untidyTexts, "VARCHAR", ["DOUBLE", "DATE"]],
    [strangeDates, "TIMESTAMP", ["VARCHAR", "TIME", "DATE[]"]],
    [strangeNumbers, "DECIMAL(9,2)", ["VARCHAR", "DATE", "INTEGER[]"]],
  ];
  for (const [oddity, own, others] of kinds) {
    expect(oddity.looks(column({ type: own }))).toBeDefined();
    for (const type of others) expect([type, oddity.looks(column({ type }))]).toEqual([type, undefined]);
  }
});

test.each<[Readonly<Record<string, number>>, string | undefined]>([
  [{ filled: 10, shaped: 0 }, undefined],
  [{ filled: 10, shaped: 4 }, undefined],
  [{ filled: 10, shaped: 10 }, "dates kept as text"],
  [{ filled: 10, shaped: 5 }, "5 values among dates that cannot be read as one, such as 'otherExample'"],
  [
    { filled: 10, shaped: 9, bad: 1 },
    "1 date that cannot be, such as 'badExample'; 1 value among dates that cannot be read as one, such as 'otherExample'",
  ],
  [{ filled: 9, shaped: 9, bad: 2, dashed: 9 }, "2 dates that cannot be, such as 'badExample'"],
  [
    { filled: 9, shaped: 9, dashed: 1, dotted: 1 },
    "dates in more than one form (check which is day and which is month)",
  ],
  [
    { filled: 9, shaped: 9, slashed: 9, dayOnly: 2, monthOnly: 3 },
    "days and months in both orders: 2 can only be day first, such as 'dayOnlyExample', 3 only month first, such as 'monthOnlyExample'",
  ],
  [{ filled: 9, shaped: 9, slashed: 9, dayOnly: 2 }, "dates kept as text"],
])("texts that look like dates are told: %#", (counts, expected) => {
  expect(said(impossibleDates, counts)).toBe(expected);
});

test.each<[Readonly<Record<string, number>>, string | undefined]>([
  [{ filled: 10 }, undefined],
  [{ filled: 10, back: 3 }, undefined],
  [{ filled: 10, back: 2 }, "2 rows out of order: earlier than the row before, such as backExample"],
  [{ filled: 10, far: 1 }, "1 date before 1900 or after 2100, such as farExample"],
  [
    { filled: 10, back: 1, far: 2 },
    "1 row out of order: earlier than the row before, such as backExample; 2 dates before 1900 or after 2100, such as farExample",
  ],
])("dates that nobody means, and few that go back, are told: %#", (counts, expected) => {
  expect(said(strangeDates, counts)).toBe(expected);
});

const steady = { filled: 100, least: 0, step: 600, most: 900, longest: 1800 };
test.each<[Readonly<Record<string, number>>, string | undefined]>([
  [steady, "a gap from fromExample to toExample, the longest: the usual step is 10 minutes"],
  [
    { ...steady, step: 86_400, most: 86_400, longest: 864_000 },
    "a gap from fromExample to toExample, the longest: the usual step is 1 day",
  ],
  [{ ...steady, longest: 1799 }, undefined],
  [{ ...steady, most: 901 }, undefined],
  [{ ...steady, least: -1 }, undefined],
  [{ ...steady, filled: 9 }, undefined],
  [{ ...steady, step: 0, most: 0 }, undefined],
])("a gap in a steady course of time is told: %#", (counts, expected) => {
  expect(said(timeGaps, counts, column({ type: "TIMESTAMP" }))).toBe(expected);
});

test.each<[Readonly<Record<string, number>>, string | undefined]>([
  [{ filled: 9, totals: 2 }, "2 rows may be the total of others, such as 'totalExample': left in, they count twice"],
  [{ filled: 9, totals: 9 }, undefined],
  [{ filled: 9 }, undefined],
])("rows of totals are told: %#", (counts, expected) => {
  expect(said(totalRows, counts)).toBe(expected);
});

const numbers = { type: "DOUBLE", quartiles: [10, 20] as const };
test.each<[Partial<ColumnProfile>, Readonly<Record<string, number>>, string | undefined]>([
  [numbers, { filled: 100 }, undefined],
  [
    numbers,
    { filled: 100, outliers: 1 },
    "1 outlier (below -20 or above 50, three interquartile ranges outside the middle half)",
  ],
  [numbers, { filled: 100, negative: 4 }, "4 negative values, all others are not"],
  [numbers, { filled: 100, negative: 5 }, undefined],
  [{ ...numbers, name: "min_temp" }, { filled: 100, negative: 1 }, undefined],
  [{ ...numbers, name: "netProfit" }, { filled: 100, negative: 1 }, undefined],
  [{ ...numbers, name: "温度" }, { filled: 100, negative: 1 }, undefined],
  [{ ...numbers, name: "temperate" }, { filled: 100, negative: 1 }, "1 negative value, all others are not"],
  [
    numbers,
    { filled: 100, outliers: 2, negative: 1 },
    "2 outliers (below -20 or above 50, three interquartile ranges outside the middle half); 1 negative value, all others are not",
  ],
  [
    numbers,
    { filled: 100, small: 4, smallMost: 0.15 },
    "4 values of at most 0.15, no other positive one below 1: perhaps in another unit",
  ],
  [numbers, { filled: 100, small: 4, smallMost: 0.15, between: 1 }, undefined],
  [numbers, { filled: 100, small: 1, smallMost: 0.15 }, undefined],
  [{ ...numbers, quartiles: [-10, 20] }, { filled: 100, small: 4 }, undefined],
])("numbers far from the others, and few negative ones, are told: %#", (of, counts, expected) => {
  expect(said(strangeNumbers, counts, column(of))).toBe(expected);
});

test.each<[number, number, number, string | undefined]>([
  [10, 6, 5, "mostly zeros: 6 of 10, which its mean and median hide"],
  [10, 5, 5, undefined],
  [10, 10, 1, undefined],
  // A yes or no.
  [10, 6, 2, undefined],
])("of %d numbers %d are nought and %d differ", (filled, zeros, distinct, expected) => {
  expect(said(strangeNumbers, { filled, zeros }, column({ type: "BIGINT", distinct }))).toBe(expected);
});

test("outliers are counted beyond three interquartile ranges, and not where half of the values are the same", () => {
  expect(strangeNumbers.looks(column(numbers))?.outliers).toBe("count(*) FILTER (isfinite(c) AND (c < -20 OR c > 50))");
  expect(strangeNumbers.looks(column({ ...numbers, type: "BIGINT" }))?.outliers).toBe(
    "count(*) FILTER (c < -20 OR c > 50)",
  );
  for (const quartiles of [undefined, [5, 5] as const])
    expect(strangeNumbers.looks(column({ ...numbers, quartiles }))).not.toHaveProperty("outliers");
});

test.each<[Readonly<Record<string, number>>, string | undefined]>([
  [{ filled: 0, numbers: 0 }, undefined],
  [{ filled: 100, numbers: 4 }, undefined],
  [{ filled: 100, numbers: 5 }, "mixed types: 5 numbers such as 'numberExample' among 95 texts such as 'otherExample'"],
  [{ filled: 2, numbers: 1 }, "mixed types: 1 number such as 'numberExample' among 1 text such as 'otherExample'"],
  [
    { filled: 10, numbers: 8 },
    "numbers kept as text: 8 of 10 are numbers (1 to 2.05), the rest is not, such as 'otherExample'",
  ],
  [{ filled: 10, numbers: 10 }, "all values are numbers kept as text (1 to 2.05), such as 'numberExample'"],
  [
    { filled: 10, numbers: 10, dressed: 1 },
    "all values are numbers kept as text (1 to 2.05), such as 'numberExample'; 1 of the numbers need cleaning before a cast, such as 'dressedExample'",
  ],
  [
    { filled: 10, numbers: 10, dressed: 2 },
    "all values are numbers kept as text, such as 'numberExample'; 2 of the numbers need cleaning before a cast, such as 'dressedExample'",
  ],
])("numbers among texts are told: %#", (counts, expected) => {
  const example = (name: string) => (name === "rangeExample" ? "1.0 to 2.05" : name);
  expect(said(numbersAsText, counts, column(), example)).toBe(expected);
});

test("without a range none is told", () => {
  const example = (name: string) => (name === "rangeExample" ? "" : name);
  expect(said(numbersAsText, { filled: 1, numbers: 1 }, column(), example)).toBe(
    "all values are numbers kept as text, such as 'numberExample'",
  );
});

test.each<[Readonly<Record<string, number>>, string | undefined]>([
  [{}, undefined],
  [{ blanks: 1 }, "1 value with blanks before or after, such as 'blankExample'"],
  [{ empty: 2 }, "2 empty texts"],
  [{ placeholders: 1 }, "1 stand-in for a missing value, such as 'placeholderExample'"],
  [
    { blanks: 2, empty: 1, placeholders: 3 },
    "2 values with blanks before or after, such as 'blankExample'; 1 empty text; 3 stand-ins for a missing value, such as 'placeholderExample'",
  ],
  [{ spellings: 2 }, "2 spellings that only case or blanks tell from another"],
])("texts that should have been tidied are told: %#", (counts, expected) => {
  expect(said(untidyTexts, counts)).toBe(expected);
});

test.each<[Readonly<Record<string, number>>, string | undefined]>([
  [{}, undefined],
  [{ filled: 9, codes: 9, forms: 2, kinds: 2 }, undefined],
  [{ filled: 9, codes: 8, forms: 3, kinds: 1 }, undefined],
  [
    { filled: 9, codes: 9, forms: 2, kinds: 1 },
    "codes that are written in 2 ways, such as 'firstExample' and 'lastExample': write them one way before a join",
  ],
])("codes that a join would not match are told: %#", (counts, expected) => {
  expect(said(codeForms, counts, column({ name: "invoice_no" }))).toBe(expected);
});

test("codes are looked for in columns that name rows", () => {
  expect(codeForms.looks(column({ name: "invoice_no" }))).toBeDefined();
  expect(codeForms.looks(column({ name: "customer" }))).toBeUndefined();
  expect(codeForms.looks(column({ name: "id", type: "BIGINT" }))).toBeUndefined();
});

test("spellings are compared in columns of up to ten thousand texts", () => {
  expect(untidyTexts.looks(column({ distinct: 10_000 }))).toHaveProperty("spellings");
  expect(untidyTexts.looks(column({ distinct: 10_001 }))).not.toHaveProperty("spellings");
});
