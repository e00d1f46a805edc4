import { expect, test } from "bun:test";
import { associationTest, contingency, evenTest } from "./chi-square.ts";
import { anova, oneSampleTest, pairLines, sizeOf, tTest } from "./compare-means.ts";
import { kruskalWallis, mannWhitney, wilcoxon } from "./compare-ranks.ts";
import { correlations } from "./correlations.ts";
import { confidenceIntervals, outliers } from "./describe-sample.ts";
import { holm } from "./distributions.ts";
import { chance, figure, interval, reportText, type StatisticsReport } from "./report.ts";
import { groupsOf, namesOf, numbersOf, type Rows } from "./samples.ts";

// The expected figures were computed with SciPy 1.17 and statsmodels 0.15.

const sample = (name: string, ...values: readonly number[]) => ({ name, values });
const told = ({ lines, assumptions }: StatisticsReport) => [...lines, ...assumptions].join("\n");
/** Two columns of names, as often as these counts say. */
const columns = (counts: readonly (readonly number[])[]) => {
  const pairs = counts.flatMap((row, down) => row.flatMap((n, across) => Array(n).fill([`d${down}`, `a${across}`])));
  return [pairs.map(([down]) => down), pairs.map(([, across]) => across)] as const;
};
const association = (...counts: readonly (readonly number[])[]) => {
  const [down, across] = columns(counts);
  return told(associationTest(["down", "across"], contingency(down, across)));
};

test.each([
  [
    [
      [3, 1],
      [1, 4],
    ],
    "p = 0.206",
  ],
  [
    [
      [8, 2],
      [1, 5],
    ],
    "p = 0.035",
  ],
  [
    [
      [2, 7],
      [8, 2],
    ],
    "p = 0.023",
  ],
  [
    [
      [5, 5],
      [5, 5],
    ],
    "p = 1.0000",
  ],
  [
    [
      [0, 6],
      [5, 1],
    ],
    "p = 0.015",
  ],
])("Fisher's exact test of %j has %s, and says whether to go by it", (counts, p) => {
  const text = association(...counts);
  expect(text).toContain(`Fisher's exact test: ${p}`);
  expect(text).toContain(Math.min(...counts.flat()) === 5 ? "of 5 and more: holds." : "go by Fisher's test");
});

test("how far ranks differ is told with an interval", () => {
  const from = (first: number) => Array.from({ length: 12 }, (_, at) => first + at);
  const text = told(mannWhitney(sample("a", ...from(1)), sample("b", ...from(4)), 0.95));
  expect(text).toContain("difference (a − b, Hodges-Lehmann, if their shape is alike): -3, 95 % CI -6 to 0");
});

test("a table of any size shows each count with what would be expected, and has no Fisher's test", () => {
  const text = association([10, 20, 30], [25, 15, 5], [8, 9, 10]);
  expect(text.split("\n").slice(0, 4)).toEqual([
    "down | a0 | a1 | a2",
    "d0 | 10 (19.5455) | 20 (20) | 30 (20.4545)",
    "d1 | 25 (14.6591) | 15 (15) | 5 (15.3409)",
    "d2 | 8 (8.79545) | 9 (9) | 10 (9.20455)",
  ]);
  expect(text).toContain("chi² = 23.5223, df = 4, n = 132, p = 1.0e-4");
  expect(text).toContain("effect: Cramér's V = 0.298495 (small)");
  expect(text).not.toContain("Fisher");
  for (const flat of [association([3, 9], [4, 8], [5, 7]), association([3, 4, 5], [9, 8, 7])]) {
    expect(flat).not.toContain("Fisher");
    expect(flat).toContain("df = 2");
  }
});

test("small expected counts are told, and what to do where they are too many or too small", () => {
  // One of six cells is expected below 5, at 4.5.
  expect(association([9, 21, 20], [9, 21, 20], [0, 0, 0])).toContain("expected counts of 5 and more: holds.");
  expect(association([4, 40, 40], [4, 20, 20])).toContain("1 of 6 are below 5, few enough.");
  expect(association([4, 4, 40], [4, 4, 20])).toContain("does not hold, 2 of 6 are below 5: join rare categories");
  expect(association([1, 60, 60, 60], [1, 60, 60, 60])).toContain("2 of 8 are below 5: join rare categories");
  expect(association([1, 90, 90, 90, 90, 90], [0, 60, 60, 60, 60, 60])).toContain("does not hold, 2 of 12");
});

test("categories are counted in the order of their numbers, between 2 and 30 of them", () => {
  const values = [..."aaaa", ..."bbbbbbbbb", ..."cccccccc", ..."ddd"];
  const { lines } = evenTest("letter", values);
  expect(lines).toEqual([
    "a: 4 (expected 6)",
    "b: 9 (expected 6)",
    "c: 8 (expected 6)",
    "d: 3 (expected 6)",
    "chi² = 4.33333, df = 3, n = 24, p = 0.2276",
  ]);
  expect(
    evenTest("n", ["10", "9", "10", "2"])
      .lines.slice(0, 3)
      .map((line) => line.split(":")[0]),
  ).toEqual(["2", "9", "10"]);
  const many = (n: number) => Array.from({ length: n }, (_, at) => `c${at}`);
  expect(evenTest("n", many(30)).lines).toHaveLength(31);
  expect(() => evenTest("n", many(31))).toThrow("A column has 31 categories; 2 to 30 are needed.");
  expect(() => evenTest("n", ["a", "a"])).toThrow("A column has 1 category");
});

test.each([
  [[1.1, 2.2, 3.3, 9.9], [4.4, 5.5, 6.6, 7.7, 8.8], "U = 5, p = 0.2857 (exact)"],
  [[1, 2, 3], [4, 5, 6, 7], "U = 0, p = 0.0571 (exact)"],
  [[5, 6, 7, 8, 9, 10, 11, 12], [1, 2, 3, 4], "U = 32, p = 0.0040 (exact)"],
  [[0, 1, 2, 3, 4, 5, 6, 7, 8], [4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5], "U = 10, p = 0.0081 (normal"],
  [[1, 2, 2, 3, 3, 3], [2, 3, 4, 4, 5], "U = 5.5, p = 0.0887 (normal"],
  [[1, 2, 3, 4], [1, 2, 3, 4], "U = 8, p = 1.0000 (normal"],
  [[7, 7], [7, 7], "U = 2, p = 1.0000 (normal"],
])("the Mann-Whitney test of %j and %j has %s", (one, other, figures) => {
  expect(told(mannWhitney(sample("a", ...one), sample("b", ...other), 0.95))).toContain(figures);
});

test("orders are counted out where one sample has eight values or fewer, and the other not very many", () => {
  const from = (first: number, n: number) => Array.from({ length: n }, (_, at) => first + at * 1.37);
  const isExact = (n: number, m: number) =>
    told(mannWhitney(sample("a", ...from(0.5, n)), sample("b", ...from(3.01, m)), 0.95)).includes("(exact)");
  expect([isExact(8, 20), isExact(20, 8), isExact(9, 9), isExact(8, 250), isExact(8, 251)]).toEqual([
    true,
    true,
    false,
    true,
    false,
  ]);
});

test("the effect of ranks is the share of pairs in which the first is larger", () => {
  const text = told(mannWhitney(sample("a", 5, 6, 1), sample("b", 2, 3), 0.95));
  expect(text).toContain("a value of a is the larger in 66.6667 % of pairs; rank-biserial r = 0.333333 (medium)");
  expect(() => mannWhitney(sample("a", 1), sample("b", 1, 2), 0.95)).toThrow("a has 1 value; at least 2 are needed.");
});

test.each([
  [[1.5, -2.5, 3.5, 4.5, -0.5, 6.5, 7.5], "W = 4, p = 0.1094 (exact)", "r = 0.714286 (large)"],
  [[1, 2, 3, 4, 5, -6], "W = 6, p = 0.4375 (exact)", "r = 0.428571 (medium)"],
  [[-1, -2, -3, -4, -5, 6], "W = 6, p = 0.4375 (exact)", "r = -0.428571 (medium)"],
  [[0, 1.5, -2.5, 3.5, 4.5, -0.5, 6.5, 7.5], "W = 4, p = 0.1083 (normal", "r = 0.714286 (large)"],
])("the signed-rank test of %j has %s, %s", (differences, figures, effect) => {
  const text = told(wilcoxon(sample("d", ...differences)));
  expect(text).toContain(figures);
  expect(text).toContain(effect);
  expect(text.includes("which do not count: 1")).toBe(differences.includes(0));
});

test("pairs that are all equal are not tested, and more than fifty are not counted out", () => {
  expect(() => wilcoxon(sample("d", 0, 0))).toThrow("All pairs are equal");
  const differences = (n: number) => Array.from({ length: n }, (_, at) => (at % 3 === 0 ? -1 : 1) * (at + 1.25));
  const isExact = (values: readonly number[]) => told(wilcoxon(sample("d", ...values))).includes("exact");
  expect([isExact(differences(50)), isExact(differences(51)), isExact([...differences(9), -1.25])]).toEqual([
    true,
    false,
    false,
  ]);
});

test("groups are compared by ranks, in all and in pairs", () => {
  const groups = [sample("a", 1, 2, 2, 5, 6), sample("b", 2, 3, 4, 8, 9), sample("c", 7, 7, 8, 10, 11)];
  const text = told(kruskalWallis(groups));
  expect(text).toContain("H = 7.14152, df = 2, p = 0.0281");
  expect(text).toContain("effect: epsilon² = 0.510108 (large)");
  expect(text).toContain("at least 5 values a group: holds.");
  for (const pair of ["a − b: the first is the larger in 28 %", "a − c", "b − c"]) expect(text).toContain(`  ${pair}`);
  expect(told(kruskalWallis([...groups, sample("d", 1, 2, 3, 4)]))).toContain("does not hold in d: p is rough.");
  expect(() => kruskalWallis([sample("a", 1, 1), sample("b", 1, 1)])).toThrow("All values are equal");
  expect(() => kruskalWallis([sample("a", 1, 2), sample("b", 1)])).toThrow("b has 1 value; at least 2 are needed.");
  expect(told(kruskalWallis([sample("a", 1, 2), sample("b", 3, 4)]))).toContain("does not hold in a, b: p is rough.");
  expect(
    text
      .split("\n")
      .slice(0, 3)
      .map((line) => line.split(":")[0]),
  ).toEqual(["a", "b", "c"]);
});

test("means are compared with their interval, and a sample without spread is refused", () => {
  const text = told(tTest(sample("a", 1, 2, 3, 4, 10), sample("b", 4, 5, 6, 9), 0.9));
  expect(text).toContain("difference of the means (a − b): -2, 90 % CI -5.65519 to 1.65519");
  expect(text).toContain("t = -1.04447, df = 6.6682, p = 0.3326");
  expect(text).toContain("effect: Hedges' g = -0.587945 (medium)");
  const one = told(oneSampleTest(sample("a", 5, 6, 7, 9), 5, 0.95));
  expect(one).toContain("95 % CI 4.03247 to 9.46753");
  expect(one).toContain("t = 2.04939, df = 3, p = 0.1328");
  expect(one).toContain("effect: Cohen's d = 1.0247 (large)");
  expect(() => tTest(sample("a", 1, 2), sample("b", 3, 3), 0.95)).toThrow("All 2 values of b are equal");
  expect(() => oneSampleTest(sample("a", 3, 3, 3), 0, 0.95)).toThrow("All 3 values of a are equal");
  expect(() => oneSampleTest(sample("a", 3), 0, 0.95)).toThrow("a has 1 value; at least 2 are needed.");
});

test("several means are compared in one test and in pairs, with the spread of the groups", () => {
  const groups = [sample("a", 1, 2, 3), sample("b", 2, 3, 4.5), sample("c", 6, 7, 9)];
  const { lines, assumptions } = anova(groups, 0.95);
  expect(lines.slice(0, 3).map((line) => line.split(":")[0])).toEqual(["a", "b", "c"]);
  expect(lines[3]).toBe("F(2, 6) = 14.3898, p = 0.0051");
  expect(lines[5]).toBe("effect: eta² = 0.827485, omega² = 0.74846 (large)");
  expect(lines.slice(7).map((line) => line.trim().split(":")[0])).toEqual(["a − b", "a − c", "b − c"]);
  expect(assumptions[0]).toBe("equal spread: holds (Brown-Forsythe p = 0.8801).");
  expect(() => anova([...groups, sample("d", 2, 2)], 0.95)).toThrow("All 2 values of d are equal");
  const alike = anova([sample("a", 1, 2, 3), sample("b", 1, 2, 3.1)], 0.95);
  expect(alike.lines.join()).toContain("omega² = 0 (negligible)");
});

test("at most eight groups are compared in pairs, each pair once, with p values for their number", () => {
  const groups = (n: number) => Array.from({ length: n }, (_, at) => sample(`g${at}`, 1, 2));
  const compare = () => ({ text: "x", p: 0.01 });
  expect(pairLines(groups(8), compare)).toHaveLength(1 + 28);
  expect(pairLines(groups(9), compare)).toEqual([
    "pairs: not compared, since there are more than 8 groups; choose some in a SELECT.",
  ]);
  expect(pairLines(groups(3), compare).slice(1)).toEqual([
    "  g0 − g1: x, p = 0.0300",
    "  g0 − g2: x, p = 0.0300",
    "  g1 − g2: x, p = 0.0300",
  ]);
});

test("p values of several tests are adjusted by Holm's way, in the order they came", () => {
  expect(holm([0.01, 0.04, 0.03, 0.005]).map((p) => Number(p.toFixed(6)))).toEqual([0.03, 0.06, 0.06, 0.02]);
  expect(holm([0.5, 0.6])).toEqual([1, 1]);
  expect(holm([])).toEqual([]);
});

test.each([
  [0.19, "negligible"],
  [0.2, "small"],
  [0.49, "small"],
  [0.5, "medium"],
  [0.79, "medium"],
  [0.8, "large"],
])("an effect of %d is %s", (effect, word) => {
  expect(sizeOf(effect, [0.2, 0.5, 0.8])).toBe(word);
});

test("figures have six digits and whole numbers all of theirs; a p value is never 0 and never nothing", () => {
  expect(
    [0, 12_345, 999_999_999, 1e9 + 1, 12_345.6, 0.000_123_46, -1 / 3, Number.POSITIVE_INFINITY].map(figure),
  ).toEqual(["0", "12345", "999999999", "1000000000", "12345.6", "0.00012346", "-0.333333", "Infinity"]);
  expect([0, 0.000_099, 0.0001, 0.000_99, 0.001, 0.05, 1, Number.NaN].map(chance)).toEqual([
    "p < 1e-300",
    "p = 9.9e-5",
    "p = 0.0001",
    "p = 0.0010",
    "p = 0.0010",
    "p = 0.0500",
    "p = 1.0000",
    "p unknown",
  ]);
  expect(interval([1, 2.5], 0.9)).toBe("90 % CI 1 to 2.5");
  expect(reportText({ title: "T", lines: ["l"], assumptions: ["a", "b"] })).toBe("T\nl\nAssumptions:\n- a\n- b");
});

const rows = (...values: Rows["rows"]): Rows => ({ columns: ["y", "x"], rows: values, left: 0 });

test("a column is read as numbers, truth values as 0 and 1, and anything else is refused with the way out", () => {
  expect(numbersOf(rows([1.5, ""], [true, ""], [false, ""], [0, ""]), "y")).toEqual([1.5, 1, 0, 0]);
  for (const wrong of ["1", null, [1]])
    expect(() => numbersOf(rows([1, ""], [wrong, ""]), "y")).toThrow(
      `y holds ${JSON.stringify(wrong)}, which is not a number.`,
    );
  expect(namesOf(rows([0, "a"], [0, 2], [0, true]), "x")).toEqual(["a", "2", "true"]);
});

test("groups are in the order of their names, numbers by size, between 2 and 50 of two values and more", () => {
  expect(groupsOf(rows([1, "b10"], [2, "a"], [3, "b9"], [4, "a"], [5, "b9"], [6, "b10"]), "y", "x")).toEqual([
    sample("a", 2, 4),
    sample("b9", 3, 5),
    sample("b10", 1, 6),
  ]);
  const many = (n: number) => rows(...Array.from({ length: 2 * n }, (_, at) => [at, `g${at % n}`]));
  expect(groupsOf(many(2), "y", "x")).toHaveLength(2);
  expect(groupsOf(many(50), "y", "x")).toHaveLength(50);
  expect(() => groupsOf(many(51), "y", "x")).toThrow("x has 51 different values; 2 to 50 groups are needed.");
  expect(() => groupsOf(many(1), "y", "x")).toThrow("x has 1 different value");
  expect(() => groupsOf(rows([1, "a"], [2, "a"], [3, "b"]), "y", "x")).toThrow("b has 1 value");
});

test("each pair of columns is correlated, with p values for their number, and what does not vary is named", () => {
  const [one, two] = [sample("a", 1, 2, 3, 4, 6), sample("b", 2, 1, 4, 3, 9)];
  const single = correlations([one, two], "pearson", 0.95);
  expect(single.lines).toEqual(["a and b: r = 0.884686, 95 % CI 0.0110244 to 0.992375, p = 0.0462"]);
  expect(single.assumptions[0]).toBe("a straight line without strong outliers: ranks and values agree.");
  expect(correlations([one, two], "spearman", 0.95).lines[0]).toContain("r = 0.8, ");
  const flat = sample("c", 5, 5, 5, 5, 5);
  const three = correlations([one, two, sample("d", 9, 7, 6, 2, 1), flat], "pearson", 0.95).lines;
  expect(three.map((line) => line.split(":")[0])).toEqual([
    "a and b",
    "a and d",
    "b and d",
    "a and c",
    "b and c",
    "d and c",
    "Go by the adjusted p (Holm)",
  ]);
  expect(three[0]).toContain("p = 0.0462, adjusted p = 0.0924");
  expect(three[3]).toBe("a and c: one of them does not vary");
  expect(() => correlations([sample("a", 1, 2, 3), sample("b", 1, 2, 4)], "pearson", 0.95)).toThrow(
    "3 rows are complete",
  );
  expect(correlations([sample("a", 1, 2, 3, 4), sample("b", 1, 2, 3, 4)], "pearson", 0.95).lines[0]).toContain(
    "r = 1, ",
  );
});

test("ranks that say otherwise than values are told, and so is the better way", () => {
  const bent = [sample("a", 1, 2, 3, 4, 5, 6), sample("b", 1, 2, 4, 30, 400, 9_000)];
  expect(correlations(bent, "pearson", 0.95).assumptions[0]).toContain(
    "does not hold; ranks say otherwise for a and b (1): draw a scatter chart, prefer spearman.",
  );
  expect(correlations(bent, "spearman", 0.95).assumptions[0]).toMatch(
    /values say otherwise for a and b \(0\.\d+\): draw a scatter chart\.$/,
  );
});

test("each pair in which ranks and values disagree is named, by size or by sign", () => {
  const [a, b, c] = [
    sample("a", 1, 2, 3, 4, 5, 60),
    sample("b", 5, 4, 3, 2, 1, 60),
    sample("c", 1, 2, 4, 30, 400, 9_000),
  ];
  const [line = ""] = correlations([a, b, c], "pearson", 0.95).assumptions;
  for (const pair of ["a and b", "b and c"]) expect(line).toContain(pair);
});

test("shares have Wilson's interval; of other columns mean and median have theirs", () => {
  const shares = confidenceIntervals([sample("hit", 1, 0, 1, 1, 0, 1, 1, 1, 1, 1)], 0.95);
  expect(shares.lines).toEqual(["hit: 8 of 10 = 0.8, 95 % CI 0.490162 to 0.943318"]);
  expect(confidenceIntervals([sample("a", 1, 1), sample("b", 0, 1)], 0.95).lines).toHaveLength(2);
  expect(() => confidenceIntervals([sample("a", 1, 1), sample("b", 0)], 0.95)).toThrow("b has 1 value");
  expect(confidenceIntervals([sample("none", 0, 0, 0)], 0.95).lines[0]).toContain("0 of 3 = 0, 95 % CI 0 to ");
  const text = told(confidenceIntervals([sample("hit", 1, 0), sample("n", 5, 6, 7, 9)], 0.95));
  expect(text).toContain("  mean 95 % CI 4.03247 to 9.46753; median 95 % CI 5 to 9");
  const long = sample("n", ...Array.from({ length: 100 }, (_, at) => (at * 37) % 100));
  expect(told(confidenceIntervals([long], 0.95))).toContain("median 95 % CI 39 to 60");
});

test("values outside a rule's bounds are shown, the farthest first, twenty at most, with the other rules' counts", () => {
  const usual = Array.from({ length: 100 }, (_, at) => at % 10);
  const labels = Array.from({ length: 200 }, (_, at) => `row ${at}`);
  const few = outliers(sample("n", ...usual, 100, -60), "iqr", labels);
  expect(few.lines.slice(1)).toEqual([
    "usual: -5.5 to 14.5; outside: 2 of 102",
    "  100 (row 100)",
    "  -60 (row 101)",
    "by the other rules: mad 2, zscore 2",
  ]);
  const many = outliers(sample("n", ...usual, ...Array.from({ length: 21 }, (_, at) => 100 + at)), "iqr", []);
  expect(many.lines[2]).toBe("  120");
  expect(many.lines.at(-2)).toBe("  … 1 more, nearer to the usual");
  expect(many.lines).toHaveLength(24);
  expect(outliers(sample("n", 1, 2, 3, 4, 5, 6, 7, 8), "zscore", []).lines[1]).toContain("outside: 0 of 8");
  expect(() => outliers(sample("n", 1), "iqr", [])).toThrow("n has 1 value; at least 2 are needed.");
  // On the bound is within it.
  expect(outliers(sample("n", 2, 2, 7, 7, -5.5, 14.5), "iqr", []).lines[1]).toContain("outside: 0 of 6");
  expect(() => outliers(sample("n", 1, 1, 1, 1, 9), "mad", [])).toThrow("mad has no width; use another rule.");
});
