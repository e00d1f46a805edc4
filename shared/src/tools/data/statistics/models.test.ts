import { expect, test } from "bun:test";
import { decomposition } from "./decomposition.ts";
import { normality, normalityLine } from "./normality.ts";
import { regression } from "./regression.ts";

// The expected figures were computed with SciPy 1.17 and statsmodels 0.15.

const sample = (name: string, ...values: readonly number[]) => ({ name, values });
const x = sample("x", 1, 2, 3, 4, 5, 6, 7, 8);
const z = sample("z", 3, 1, 4, 1, 5, 9, 2, 6);
const y = sample("y", 2.1, 3.0, 6.4, 7.2, 11.5, 14.9, 13.2, 18.8);

test("a regression has each coefficient with its error, interval, p, robust p and inflation, and its diagnostics", () => {
  const { title, lines, assumptions } = regression(y, [x, z], 0.9);
  expect(title).toBe("Linear regression of y on x, z, n = 8");
  expect(lines).toEqual([
    "R² = 0.994056, adjusted 0.991678; F(2, 5) = 418.097, p = 2.7e-6; residual standard deviation 0.539787",
    "  intercept: -1.71339, standard error 0.438415, 90 % CI -2.59681 to -0.829959, t = -3.90814, p = 0.0113, robust p = 0.0156",
    "  x: 2.07559, standard error 0.0947936, 90 % CI 1.88458 to 2.2666, t = 21.8959, p = 3.7e-6, robust p = 9.5e-5, VIF 1.29528",
    "  z: 0.518898, standard error 0.0844848, 90 % CI 0.348657 to 0.689139, t = 6.14191, p = 0.0017, robust p = 0.0376, VIF 1.29528",
  ]);
  expect(assumptions).toEqual([
    "equal spread of the residuals: does not hold (Breusch-Pagan p = 0.0485): go by the robust p.",
    "normal residuals: too few rows to tell.",
    "independent residuals: no trace between neighbouring rows (Durbin-Watson 1.96176).",
    "predictors that differ: holds (VIF up to 5).",
    "no row decides alone: does not hold for row 6, 7 of those read (Cook's distance above 1): compare without.",
    "enough rows: fewer than ten a predictor (8 for 2): expect R² to be too high.",
    "a straight line: not tested; draw a scatter chart of each predictor.",
  ]);
});

test("a regression on one column speaks of no others, and of neighbours that resemble each other", () => {
  const values = Array.from({ length: 24 }, (_, at) => at);
  const bent = sample("y", ...values.map((value) => value + Math.sin(value / 4) * 3));
  const { lines, assumptions } = regression(bent, [sample("x", ...values)], 0.95);
  expect(lines.join()).not.toContain("VIF");
  expect(assumptions.join()).not.toContain("predictors that differ");
  expect(assumptions.join()).not.toContain("enough rows");
  expect(assumptions.join()).toMatch(/neighbouring rows resemble each other \(Durbin-Watson 0\.\d+\)/);
  const swing = sample("y", ...values.map((value) => value + (value % 2 === 0 ? 1 : -1)));
  expect(regression(swing, [sample("x", ...values)], 0.95).assumptions.join()).toMatch(/Durbin-Watson 3\.\d+/);
});

test("columns that largely repeat each other are named", () => {
  const noise = [0.1, -0.2, 0.15, -0.1, 0.2, -0.15, 0.05, -0.05];
  const twin = sample("twin", ...x.values.map((value, at) => 2 * value + (noise[at] ?? 0)));
  expect(regression(y, [x, twin, z], 0.95).assumptions.join("\n")).toContain(
    "predictors that differ: x, twin largely repeat",
  );
});

test.each([
  [y, [sample("x", 1, 1, 1, 1, 1, 1, 1, 1)], "x does not vary; leave it out."],
  [y, [x, sample("twin", ...x.values.map((value) => 3 * value + 1))], "say exactly the same"],
  [sample("y", 5, 5, 5, 5, 5, 5, 5, 5), [x], "does not vary; there is nothing to explain."],
  [sample("y", ...x.values.map((value) => 3 * value)), [x], "determine y exactly"],
  [sample("y", 1, 2), [sample("x", 1, 3)], "2 complete rows cannot tell 2 coefficients"],
])("what cannot be estimated is refused", (measured, predictors, why) => {
  expect(() => regression(measured, predictors, 0.95)).toThrow(why);
});

test("three rows tell two coefficients", () => {
  expect(regression(sample("y", 1, 2, 4), [sample("x", 1, 2, 3)], 0.95).lines[0]).toContain("F(1, 1) = 27");
});

const round = (values: readonly number[]) => values.map((value) => Number(value.toFixed(4)));
const months = Array.from({ length: 12 }, (_, at) => `month ${at + 1}`);
const sales = sample("sales", 10, 20, 30, 12, 24, 33, 15, 25, 36, 17, 30, 38);

test("a series is trend, season and rest, as a sum or as a product", () => {
  const sum = decomposition(sales, months, { period: 3, model: "additive" });
  expect(round(sum.parts.trend)).toEqual([
    Number.NaN,
    20,
    20.6667,
    22,
    23,
    24,
    24.3333,
    25.3333,
    26,
    27.6667,
    28.3333,
    Number.NaN,
  ]);
  expect(round(sum.parts.season)).toEqual([-10.0093, 0.5741, 9.4352]);
  expect(round(sum.parts.rest).slice(1, 4)).toEqual([-0.5741, -0.1019, 0.0093]);
  const product = decomposition(sales, months, { period: 3, model: "multiplicative" });
  expect(round(product.parts.season)).toEqual([0.5886, 1.0161, 1.3953]);
  expect(round(product.parts.rest).slice(1, 4)).toEqual([0.9841, 1.0404, 0.9268]);
  const even = decomposition(sample("n", 5, 8, 12, 3, 7, 9, 14, 5, 8, 11, 15, 6), months, {
    period: 4,
    model: "additive",
  });
  expect(round(even.parts.trend).slice(2, 6)).toEqual([7.25, 7.625, 8, 8.5]);
  expect(round(even.parts.season)).toEqual([-1.3125, 0.8125, 4.9375, -4.4375]);
  expect(even.assumptions[2]).toBe("2 values at each end have no trend.");
});

test("the parts are told with the times of the ends, of the highest and lowest place, and of what is odd", () => {
  const { lines } = decomposition(sales, months, { period: 3, model: "additive" });
  expect(lines[0]).toMatch(/^trend: 20 at month 2 to 28\.3333 at month 11; strength 0\.9\d+ of 1$/);
  expect(lines[1]).toMatch(
    /^season: highest 9\.43519 at place 3 of the period \(as month 3\), lowest -10\.0093 at place 1 \(as month 1\); strength 0\.99\d* of 1$/,
  );
  expect(lines[2]).toBe("season by place: -10.0093, 0.574074, 9.43519");
  expect(lines[3]).toBe("rest: no value out of the ordinary");
  const days = Array.from({ length: 60 }, (_, at) => (at % 4) * 10 + Math.sin(at));
  days[30] = 500;
  const odd = decomposition(
    sample("n", ...days),
    days.map((_, at) => `day ${at}`),
    { period: 4, model: "additive" },
  );
  expect(odd.lines[3]).toStartWith("rest out of the ordinary (3.5 robust deviations): day 30 (500), ");
  expect(odd.lines[3]).toMatch(/ and \d+ nearer to the usual$/);
  const long = (period: number) => decomposition(sample("n", ...days), months, { period, model: "additive" }).lines;
  expect([long(24).length, long(25).length]).toEqual([4, 3]);
});

test("fewer than two periods, or a product with a value of zero, is refused", () => {
  const short = (n: number, model: "additive" | "multiplicative" = "additive") =>
    decomposition(sample("n", ...sales.values.slice(0, n)), months, { period: 3, model });
  expect(short(6).title).toBe("Decomposition of n (additive, period 3), n = 6");
  expect(() => short(5)).toThrow("5 values hold fewer than two periods of 3");
  const zero = sample("n", 1, 2, 0, 1, 2, 3);
  expect(() => decomposition(zero, months, { period: 3, model: "multiplicative" })).toThrow(
    "holds values of 0 and below",
  );
  expect(decomposition(zero, months, { period: 3, model: "additive" }).parts.season).toHaveLength(3);
});

const bell = (n: number) => Array.from({ length: n }, (_, at) => Math.tan((Math.PI / 2.6) * ((2 * at + 1) / n - 1)));
const skewed = (n: number) => Array.from({ length: n }, (_, at) => Math.exp((6 * at) / n));

test("values are tested for a normal shape where there are twenty and they vary", () => {
  expect(normality(bell(19))).toBeUndefined();
  expect(normality(Array(20).fill(1))).toBeUndefined();
  expect(normality(bell(20))?.p).toBeGreaterThan(0.05);
  expect(Math.abs(normality(bell(20))?.skew ?? 1)).toBeLessThan(1e-9);
  expect(normality(skewed(20))?.p).toBeLessThan(0.05);
  expect(normality(skewed(20))?.skew).toBeGreaterThan(1);
});

test.each([
  [[sample("a", 1, 2)], "normal values: too few (below 20) to tell; wilcoxon does not need it."],
  [[sample("a", ...bell(20))], "normal values: holds where it can be tested (D'Agostino and Pearson's K²)."],
  [
    [sample("a", ...bell(20)), sample("b", 1, 2), sample("c", 1)],
    "normal values: holds where it can be tested (D'Agostino and Pearson's K²). Too few values to tell in b, c.",
  ],
])("a line says how normal values are", (parts, line) => {
  expect(normalityLine(parts, "wilcoxon")).toBe(line);
});

test("values that are not normal lead to another test, unless there are many and they are not too skewed", () => {
  const line = (...parts: Parameters<typeof normalityLine>[0]) => normalityLine(parts, "wilcoxon");
  expect(line(sample("a", ...skewed(30)), sample("b", 1))).toMatch(
    /^normal values: does not hold in a \(p .*, skewness \d.*\) by D'Agostino and Pearson's K²: prefer wilcoxon\. Too few values to tell in b\.$/,
  );
  const mild = (n: number) => sample("m", ...Array.from({ length: n }, (_, at) => ((at + 0.5) / n) ** 4));
  expect(line(mild(400))).toContain("with so many values the test of means still serves.");
  expect(line(mild(39))).toContain("prefer wilcoxon.");
  expect(line(mild(400), sample("s", ...skewed(400).map((value) => value ** 3)))).toContain("prefer wilcoxon.");
});
