import { AppError } from "../../../core/errors.ts";
import { counted } from "../../../core/text/counted.ts";
import { sizeOf } from "./compare-means.ts";
import { chanceOfHits, chiSquareUpper } from "./distributions.ts";
import { chance, figure, type StatisticsReport } from "./report.ts";

const maxCategories = 30;
const independent = "each row counts once: not visible in the data.";

/** How often each pair of categories occurs. */
export type Contingency = {
  readonly across: readonly string[];
  readonly down: readonly string[];
  readonly counts: readonly (readonly number[])[];
};

/** Counts pairs. Throws `invalid_input` for fewer than 2 or more than 30 categories. */
export function contingency(one: readonly string[], other: readonly string[]): Contingency {
  const [down, across] = [categories(one), categories(other)];
  const counts = down.map(() => across.map(() => 0));
  for (const [at, name] of one.entries()) {
    const row = counts[down.indexOf(name)];
    const column = across.indexOf(other[at] ?? "");
    if (row) row[column] = (row[column] ?? 0) + 1;
  }
  return { across, down, counts };
}

function categories(names: readonly string[]): string[] {
  const all = [...new Set(names)].toSorted((one, other) => one.localeCompare(other, "en", { numeric: true }));
  if (all.length >= 2 && all.length <= maxCategories) return all;
  throw new AppError(
    "invalid_input",
    `A column has ${counted(all.length, "category", "categories")}; 2 to ${maxCategories} are needed.`,
  );
}

/** Pearson's chi-square of counts against those expected. */
function chiSquare(counts: readonly number[], expected: readonly number[], degrees: number) {
  const value = counts.reduce((sum, count, at) => sum + (count - (expected[at] ?? 0)) ** 2 / (expected[at] ?? 0), 0);
  return { value, degrees, p: chiSquareUpper(value, degrees) };
}

/** The counts that a table would have if its columns had nothing to do with each other. */
function expectedCounts(counts: readonly (readonly number[])[]): number[][] {
  const rows = counts.map((row) => row.reduce((sum, count) => sum + count, 0));
  const all = rows.reduce((sum, count) => sum + count, 0);
  const columns = (counts[0] ?? []).map((_, at) => counts.reduce((sum, row) => sum + (row[at] ?? 0), 0));
  return rows.map((row) => columns.map((column) => (row * column) / all));
}

/** Fisher's exact test of a table of two rows and two columns, two-sided. */
function fisherExact([[a, b], [c, d]]: readonly [readonly [number, number], readonly [number, number]]): number {
  const [all, marked, drawn] = [a + b + c + d, a + c, a + b];
  const seen = chanceOfHits(a, all, marked, drawn);
  let p = 0;
  for (let hits = Math.max(0, drawn + marked - all); hits <= Math.min(drawn, marked); hits++) {
    const own = chanceOfHits(hits, all, marked, drawn);
    if (own <= seen * (1 + 1e-7)) p += own;
  }
  return Math.min(1, p);
}

/** Whether two columns of categories have to do with each other. */
export function associationTest(names: readonly [string, string], table: Contingency): StatisticsReport {
  const { across, down, counts } = table;
  const expected = expectedCounts(counts);
  const { value, degrees, p } = chiSquare(counts.flat(), expected.flat(), (across.length - 1) * (down.length - 1));
  const n = counts.flat().reduce((sum, count) => sum + count, 0);
  const v = Math.sqrt(value / n / (Math.min(across.length, down.length) - 1));
  const [[a = 0, b = 0] = [], [c = 0, d = 0] = []] = counts;
  const isTwoByTwo = across.length === 2 && down.length === 2;
  return {
    title: `Chi-square test: do ${names[0]} and ${names[1]} have to do with each other?`,
    lines: [
      `${names[0]} | ${across.join(" | ")}`,
      ...down.map((name, at) => {
        const cells = (counts[at] ?? []).map((count, column) => `${count} (${figure(expected[at]?.[column] ?? 0)})`);
        return `${name} | ${cells.join(" | ")}`;
      }),
      "(in brackets: what would be expected if not)",
      `chi² = ${figure(value)}, df = ${degrees}, n = ${n}, ${chance(p)}`,
      ...(isTwoByTwo
        ? [
            `Fisher's exact test: ${chance(
              fisherExact([
                [a, b],
                [c, d],
              ]),
            )}`,
          ]
        : []),
      `effect: Cramér's V = ${figure(v)} (${sizeOf(v, [0.1, 0.3, 0.5])})`,
    ],
    assumptions: [
      expectedLine(expected.flat(), isTwoByTwo ? "go by Fisher's test" : "join rare categories in a SELECT"),
      independent,
    ],
  };
}

/** Whether the categories of a column are equally frequent. */
export function evenTest(name: string, values: readonly string[]): StatisticsReport {
  const all = categories(values);
  const counts = all.map((category) => values.filter((value) => value === category).length);
  const each = values.length / all.length;
  const { value, degrees, p } = chiSquare(
    counts,
    all.map(() => each),
    all.length - 1,
  );
  return {
    title: `Chi-square test: are the categories of ${name} equally frequent?`,
    lines: [
      ...all.map((category, at) => `${category}: ${counts[at]} (expected ${figure(each)})`),
      `chi² = ${figure(value)}, df = ${degrees}, n = ${values.length}, ${chance(p)}`,
    ],
    assumptions: [
      expectedLine(
        all.map(() => each),
        "join rare categories in a SELECT",
      ),
      independent,
    ],
  };
}

function expectedLine(expected: readonly number[], instead: string): string {
  const small = expected.filter((count) => count < 5).length;
  const share = small / expected.length;
  if (small === 0) return "expected counts of 5 and more: holds.";
  const told = `${small} of ${expected.length} are below 5`;
  return share > 0.2 || expected.some((count) => count < 1)
    ? `expected counts of 5 and more: does not hold, ${told}: ${instead}.`
    : `expected counts of 5 and more: ${told}, few enough.`;
}
