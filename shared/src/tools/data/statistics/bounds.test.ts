import { expect, test } from "bun:test";
import { clusters } from "../insights/clusters.ts";
import { findInSeries } from "../insights/find-in-series.ts";
import { associationTest, contingency } from "./chi-square.ts";
import { anova, oneSampleTest, tTest } from "./compare-means.ts";
import { mannWhitney, wilcoxon } from "./compare-ranks.ts";
import { correlations } from "./correlations.ts";
import { outliers } from "./describe-sample.ts";
import { normalityLine } from "./normality.ts";
import { regression } from "./regression.ts";
import { numbersOf } from "./samples.ts";

const sample = (name: string, ...values: readonly number[]) => ({ name, values });
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

test("the strength of an association is by the shorter side of its table", () => {
  const across = [..."x".repeat(30), ..."y".repeat(30), ..."z".repeat(30)];
  const down = upTo(90).map((at) => (at < 30 || at % 3 === 0 ? "a" : "b"));
  const lines = associationTest(["down", "across"], contingency(down, across)).lines.join("\n");
  const value = Number(/chi² = ([\d.]+)/.exec(lines)?.[1]);
  expect(Number(/V = ([\d.]+)/.exec(lines)?.[1])).toBeCloseTo(Math.sqrt(value / 90), 4);
});

test("spread is unequal where chance makes it so in fewer than one of twenty", () => {
  const groups = (times: number) =>
    anova([sample("a", ...upTo(8)), sample("b", ...upTo(8).map((value) => (value * times) / 2))], 0.95).assumptions[0];
  expect([groups(4), groups(5)]).toEqual([
    "equal spread: holds (Brown-Forsythe p = 0.0527).",
    "equal spread: does not hold (Brown-Forsythe p = 0.0195): go by Welch's F.",
  ]);
  expect(normalityLine([sample("a", ...upTo(20))], "x")).toContain("holds where it can be tested");
});

test("each test names the one to use where values are not normal", () => {
  const [one, other] = [sample("a", 1, 2, 4), sample("b", 2, 3, 5)];
  const instead = [tTest(one, other, 0.95), oneSampleTest(one, 0, 0.95), oneSampleTest(one, 0, 0.95, true)];
  expect(instead.map(({ assumptions }) => / tell; (.*) does not need it/.exec(assumptions[0] ?? "")?.[1])).toEqual([
    "mann_whitney",
    "a confidence_interval of the median",
    "wilcoxon",
  ]);
});

test("ranks that are tied are corrected for, and very many pairs are not laid out", () => {
  expect(wilcoxon(sample("d", -1, 0, -3, 2, -4, 5, 8, 3, -4, -2)).lines[1]).toBe(
    "W = 21, p = 0.9054 (normal approximation, corrected for ties)",
  );
  expect(wilcoxon(sample("d", 9, -1, 2, 4, 7)).lines[0]).toBe("5 pairs, median of the differences 4");
  const many = sample("a", ...upTo(2_001));
  expect(mannWhitney(many, many, 0.95).lines.join("\n")).not.toContain("Hodges-Lehmann");
});

test("a line is not straight where ranks differ from it by a tenth, or in sign", () => {
  const holds = (x: readonly number[], y: readonly number[]) =>
    correlations([sample("x", ...x), sample("y", ...y)], "pearson", 0.95).assumptions[0]?.includes(
      "ranks and values agree",
    );
  expect(holds([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 9])).toBe(true);
  expect(holds([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 16])).toBe(false);
  expect(holds([1, 2, 3, 4, 5, 9], [5, 4, 3, 2, 1, 6])).toBe(false);
});

test("what is usual reaches as far as its rule says", () => {
  const values = sample("n", 2, 4, 4, 4, 5, 5, 7, 9);
  const usual = (rule: "iqr" | "mad" | "zscore") => outliers(values, rule, []).lines[1]?.split(";")[0];
  expect([usual("iqr"), usual("mad"), usual("zscore")]).toEqual([
    "usual: 1.75 to 7.75",
    "usual: 1.90545 to 7.09455",
    "usual: -1.41427 to 11.4143",
  ]);
});

const x = sample("x", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
const z = sample("z", 2, 1, 4, 3, 6, 8, 5, 9, 7, 12, 10, 11);
const y = sample("y", 2.1, 3.9, 6.2, 7.8, 10.1, 12.5, 13.2, 16.8, 17.5, 21.0, 21.7, 25.1);

test("a regression tells what makes it uncertain: columns that repeat others, few rows, rows that swing", () => {
  const told = regression(y, [x, z], 0.95).assumptions.join("\n");
  expect(told).toContain("x, z largely repeat the others (VIF above 5)");
  expect(told).toContain("fewer than ten a predictor (12 for 2)");
  const swinging = sample("y", ...upTo(24).map((value) => value + (value % 2 === 0 ? 1 : -1)));
  expect(regression(swinging, [sample("x", ...upTo(24))], 0.95).assumptions.join("\n")).toMatch(
    /neighbouring rows resemble each other \(Durbin-Watson 3\.\d+\)/,
  );
  const twin = sample("twin", ...x.values.map((value, at) => value + 1e-5 * (((at * 7) % 3) - 1)));
  expect(() => regression(y, [x, twin], 0.95)).toThrow("say exactly the same");
});

test("a number without end is none", () => {
  const rows = { columns: ["n"], rows: [[Number.POSITIVE_INFINITY]], left: 0 };
  expect(() => numbersOf(rows, "n")).toThrow("which is not a number");
});

test("a trend is told from the first place to the last, and a point in no group by its own place among many", () => {
  const labels = upTo(12).map((at) => `t${at}`);
  const series = { name: "S", labels, values: upTo(12).map((at) => 10 * at), ordered: true, adds: true };
  const trend = findInSeries(series).find(({ type }) => type === "overall_trend");
  expect(trend?.at).toEqual(["t0", "t11"]);
  // Of the slopes between all pairs the middle one.
  const bent = findInSeries({ ...series, values: upTo(12).map((at) => (at === 0 ? -80 : 10 * at)) });
  expect(bent.find(({ type }) => type === "overall_trend")?.figures.slope).toBe(10);
  const heap = (from: number) =>
    upTo(200).map((at) => [from + (at % 10) / 10, from + Math.floor(at / 10) / 20] as const);
  const points = [...heap(0), ...heap(9).slice(1), [40, 40] as const];
  const found = clusters(
    points.map(([one]) => one),
    points.map(([, other]) => other),
  );
  expect([found?.centres.length, found?.noise]).toEqual([2, [399]]);
});
