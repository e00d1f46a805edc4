import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DataScene, dataScene } from "../../testing/data/data.ts";
import { statistics } from "./statistics.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const ask = async (request: object) => scene.call(statistics(scene), request);
const said = async (request: object) => (await ask(request)).text;

/** A CSV file of columns. */
async function table(name: string, columns: Readonly<Record<string, readonly (string | number)[]>>): Promise<void> {
  const names = Object.keys(columns);
  const length = Math.max(...Object.values(columns).map((values) => values.length));
  const rows = Array.from({ length }, (_, at) => names.map((column) => columns[column]?.[at] ?? "").join(","));
  await scene.write(name, `${[names.join(","), ...rows].join("\n")}\n`);
}

const a = [12.1, 14.3, 11.8, 13.5, 15.2, 12.9, 13.1, 14.8, 12.2, 13.7];
const b = [15.5, 16.1, 14.2, 17.3, 15.8, 16.9, 14.9, 18.2, 15.1, 16.4, 17.0];
const c = [11.0, 13.2, 19.5, 9.1, 16.3, 8.4, 21.0, 12.2];
const named = (name: string, values: readonly number[]) => values.map(() => name);
const three = {
  place: [...named("a", a), ...named("b", b), ...named("c", c)],
  value: [...a, ...b, ...c],
};
const first = { place: three.place.slice(0, 21), value: three.value.slice(0, 21) };

// The expected figures were computed with SciPy 1.17 and statsmodels 0.15.

test("two groups are compared by Welch's t test, with interval, effect and what was assumed", async () => {
  await table("two.csv", first);
  const text = await said({ test: "t_test", from: "two.csv", y: ["value"], x: ["place"] });
  expect(text).toContain("difference of the means (a − b): -2.76727, 95 % CI -3.8369 to -1.69764");
  expect(text).toContain("t = -5.4176, df = 18.8625, p = 3.2e-5");
  expect(text).toContain("normal values: too few (below 20) to tell; mann_whitney does not need it.");
  const same = await said({
    test: "t_test",
    from: "SELECT (SELECT 1) AS one, value AS x, value AS y FROM 'two.csv'",
    y: ["x", "y"],
  });
  expect(same).toContain("t = 0, df = 40, p = 1.000");
  const rows = first.value.map((value, at) => `${first.place[at]};${value}`);
  await scene.write("semicolons.csv", `${["place;value", ...rows].join("\n")}\n`);
  const from = "WITH r AS (SELECT * FROM read_csv('semicolons.csv', delim=';', header=true)) SELECT * FROM r";
  expect(await said({ test: "t_test", from, y: ["value"], x: ["place"] })).toContain("t = -5.4176, df = 18.8625");
});

test("one column is tested against a value, and pairs are compared row by row", async () => {
  await table("pairs.csv", { before: a, after: b.slice(0, 10) });
  expect(await said({ test: "t_test", from: "pairs.csv", y: ["before"], against: 12 })).toContain(
    "t = 3.70542, df = 9, p = 0.0049",
  );
  const text = await said({ test: "t_test", from: "pairs.csv", y: ["before", "after"], paired: true });
  expect(text).toContain("Paired t test: is the mean of before − after 0?");
  expect(text).toContain("t = -8.02557, df = 9, p = 2.2e-5");
  expect(await said({ test: "wilcoxon", from: "pairs.csv", y: ["before", "after"] })).toContain(
    "W = 0, p = 0.0059 (normal approximation, corrected for ties)",
  );
});

test("ranks are compared exactly where they are few and not tied, else by approximation", async () => {
  await table("two.csv", first);
  await table("few.csv", { place: [...named("a", a.slice(0, 6)), ...named("c", c)], value: [...a.slice(0, 6), ...c] });
  await table("tied.csv", { one: [1, 2, 2, 3, 5, 8, 9, 4, 4, 7], other: [2, 2, 5, 1, 9, 3, 1, 1, 8, 9] });
  expect(await said({ test: "mann_whitney", from: "two.csv", y: ["value"], x: ["place"] })).toContain(
    "U = 5, p = 0.0005 (normal approximation, corrected for ties)",
  );
  expect(await said({ test: "mann_whitney", from: "few.csv", y: ["value"], x: ["place"] })).toContain(
    "U = 25, p = 0.9497 (exact)",
  );
  await table("near.csv", { one: [0.3, 0.2, 5, 6, 8], other: [0.2, 0.1, 4, 4, 4] });
  expect(await said({ test: "wilcoxon", from: "near.csv", y: ["one", "other"] })).toContain("corrected for ties");
  const tied = await said({ test: "wilcoxon", from: "tied.csv", y: ["one", "other"] });
  expect(tied).toContain("W = 21, p = 0.9054 (normal approximation, corrected for ties)");
  expect(tied).toContain("pairs without a difference, which do not count: 1");
});

test("several groups are compared in one test and in pairs, and unequal spread leads to Welch's F", async () => {
  await table("three.csv", three);
  const text = await said({ test: "anova", from: "three.csv", y: ["value"], x: ["place"] });
  expect(text).toContain("F(2, 26) = 3.3184, p = 0.0521");
  expect(text).toContain("Welch's F(2, 13.9056) = 14.1586, p = 0.0004");
  expect(text).toContain("equal spread: does not hold (Brown-Forsythe p = 0.0012): go by Welch's F.");
  expect(text).toContain("a − b: difference -2.76727, 95 % CI -3.8369 to -1.69764, p = 9.7e-5");
  expect(await said({ test: "kruskal_wallis", from: "three.csv", y: ["value"], x: ["place"] })).toContain(
    "H = 9.16648, df = 2, p = 0.0102",
  );
});

test("categories are counted, compared with what chance would give, and small counts lead to Fisher's test", async () => {
  const rows = (counts: readonly (readonly [string, string, number])[]) =>
    `SELECT one, other FROM (VALUES ${counts.map((row) => `('${row[0]}','${row[1]}',${row[2]})`).join(",")}) AS v(one, other, n), range(n)`;
  const wide = rows([
    ["f", "x", 12],
    ["f", "y", 30],
    ["f", "z", 8],
    ["m", "x", 25],
    ["m", "y", 14],
    ["m", "z", 11],
  ]);
  const text = await said({ test: "chi_square", from: wide, y: ["one"], x: ["other"] });
  expect(text).toContain("f | 12 (18.5) | 30 (22) | 8 (9.5)");
  expect(text).toContain("chi² = 10.8594, df = 2, n = 100, p = 0.0044");
  const square = rows([
    ["f", "x", 3],
    ["f", "y", 9],
    ["m", "x", 10],
    ["m", "y", 2],
  ]);
  expect(await said({ test: "chi_square", from: square, y: ["one"], x: ["other"] })).toContain(
    "Fisher's exact test: p = 0.012",
  );
  const die = rows([
    ["1", "", 18],
    ["2", "", 22],
    ["3", "", 30],
    ["4", "", 10],
  ]);
  expect(await said({ test: "chi_square", from: die, y: ["one"] })).toContain("chi² = 10.4, df = 3, n = 80, p = 0.015");
});

const x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const z = [2, 1, 4, 3, 6, 8, 5, 9, 7, 12, 10, 11];
const y = [2.1, 3.9, 6.2, 7.8, 10.1, 12.5, 13.2, 16.8, 17.5, 21.0, 21.7, 25.1];

test("a regression has coefficients, intervals, robust p values and its diagnostics", async () => {
  await table("line.csv", { x, z, y });
  const text = await said({ test: "regression", from: "line.csv", y: ["y"], x: ["x", "z"] });
  expect(text).toContain(
    "R² = 0.997557, adjusted 0.997014; F(2, 9) = 1837.23, p = 1.8e-12; residual standard deviation 0.404969",
  );
  expect(text).toContain(
    "z: 0.299726, standard error 0.0844548, 95 % CI 0.108676 to 0.490776, t = 3.54896, p = 0.0062, robust p = 0.0036, VIF 6.21928",
  );
  expect(text).toContain("Breusch-Pagan p = 0.080");
  expect(text).toContain("Durbin-Watson 2.09");
  expect(text).toContain("x, z largely repeat the others");
  expect(text).toContain("fewer than ten a predictor (12 for 2)");
});

test("a column of texts becomes columns of 0 and 1 in a regression, and columns that say the same are refused", async () => {
  await table("three.csv", three);
  const text = await said({ test: "regression", from: "three.csv", y: ["value"], x: ["place"] });
  expect(text).toContain("place = b (not a): 2.767");
  expect(text).toContain("F(2, 26) = 3.3184, p = 0.0521");
  const twice = await ask({
    test: "regression",
    from: "SELECT value, value ** 2 AS r, value ** 2 * 3 + 1 AS s FROM 'three.csv'",
    y: ["value"],
    x: ["r", "s"],
  });
  expect(twice).toMatchObject({ isError: true, text: expect.stringContaining("say exactly the same") });
});

test("correlations have intervals and p values adjusted for their number, and ranks check the straight line", async () => {
  await table("line.csv", { x, z, y });
  const text = await said({ test: "correlation", from: "line.csv", y: ["x", "z", "y"] });
  expect(text).toContain("x and z: r = 0.916084, 95 % CI 0.721511 to 0.976565, p = 2.8e-5, adjusted p = 2.8e-5");
  await table("curve.csv", { x, e: x.map((value) => Math.exp(value).toFixed(1)) });
  expect(await said({ test: "correlation", from: "curve.csv", y: ["x", "e"] })).toContain(
    "does not hold; ranks say otherwise for x and e (1): draw a scatter chart, prefer spearman.",
  );
  expect(await said({ test: "correlation", from: "curve.csv", y: ["x", "e"], method: "spearman" })).toContain("r = 1,");
});

test("intervals of mean, median and share are given, and outliers by a named rule with their rows", async () => {
  await table("two.csv", { ...first, hit: first.value.map((_, at) => (at % 3 === 0 ? 1 : 0)) });
  const means = await said({ test: "confidence_interval", from: "two.csv", y: ["value"], x: ["place"] });
  expect(means).toContain("mean 95 % CI 12.5297 to 14.1903; median 95 % CI ");
  expect(await said({ test: "confidence_interval", from: "two.csv", y: ["hit"] })).toContain(
    "hit: 7 of 21 = 0.333333, 95 % CI 0.171948 to 0.546265",
  );
  await table("odd.csv", { day: [...x, 13].map((value) => `d${value}`), value: [...y.map((value) => value / 10), 60] });
  for (const rule of ["iqr", "mad", "zscore"])
    expect(await said({ test: "outliers", from: "odd.csv", y: ["value"], x: ["day"], rule })).toContain(
      '60 (day "d13")',
    );
});

test("a series is taken apart into trend, season and rest, in order of its times, and gaps are told", async () => {
  const values = [
    112, 118, 132, 129, 121, 135, 148, 148, 136, 119, 104, 118, 115, 126, 141, 135, 125, 149, 170, 170, 158, 133, 114,
    140, 145, 150, 178, 163, 172, 178, 199, 199, 184, 162, 146, 166,
  ];
  const months = values.map((_, at) => `${2020 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}-01`);
  await table("series.csv", { month: months.toReversed(), sold: values.toReversed() });
  const request = { test: "decomposition", from: "series.csv", y: ["sold"], x: ["month"], period: 12 };
  const text = await said(request);
  expect(text).toContain("trend: 126.792 at 2020-07-01");
  expect(text).toContain(
    "season: highest 25.5208 at place 7 of the period (as 2020-07-01), lowest -30.8958 at place 11",
  );
  expect(text).toContain("season by place: -13.8125, -7.9375, 11.5,");
  expect(text).not.toContain("uneven times");
  expect(await said({ ...request, model: "multiplicative" })).toContain(
    "season by place: 0.901473, 0.945542, 1.07483,",
  );
  const file = /All parts: (\S+)/.exec(text)?.[1] ?? "";
  const saved = await scene.databases.query(scene.workspace, `FROM '${file}' LIMIT 1 OFFSET 6`, {
    signal: AbortSignal.timeout(60_000),
  });
  expect(saved.columns.map(({ name }) => name)).toEqual(["month", "sold", "trend", "season", "rest"]);
  const gap = { ...request, from: "SELECT * FROM 'series.csv' WHERE month <> '2021-05-01'" };
  expect(await said(gap)).toContain("rows seem to be missing before 2021-06-01");
});

test("missing values are left out and counted, and what cannot be tested is refused with the way out", async () => {
  await scene.write("holes.csv", "place,value,note\na,1,x\na,2,x\nb,,x\nb,4,y\nb,6,y\n,7,y\n");
  const request = { test: "t_test", from: "holes.csv", y: ["value"], x: ["place"] };
  expect(await said(request)).toContain("Rows left out because a value is missing: 2.");
  const nan =
    "SELECT i AS v, CASE WHEN i < 3 THEN 'NaN'::DOUBLE WHEN i = 3 THEN 'inf'::DOUBLE ELSE i END AS w FROM range(30) t(i)";
  expect(await said({ test: "correlation", from: nan, y: ["v", "w"] })).toContain(
    "Rows left out because a value is missing: 4.",
  );
  const refusals: [object, string][] = [
    [{ ...request, y: ["note"] }, 'note holds "x", which is not a number. Convert it in a SELECT: TRY_CAST'],
    [{ ...request, y: ["values"] }, 'Referenced column "values" not found'],
    [{ ...request, x: [], y: ["value"], paired: true }, "paired goes with a t_test of two columns"],
    [{ test: "anova", from: "holes.csv", y: ["value"] }, "anova takes one column in y and one in x."],
    [{ ...request, from: "COPY (SELECT 1) TO 'x.csv'" }, "does not exist"],
    [{ ...request, from: "SELECT 1; DROP TABLE x" }, "only a SELECT that changes nothing"],
    [{ ...request, from: "/etc/passwd" }, "/etc/passwd"],
    [{ ...request, from: "SELECT 'a' AS place, 5 AS value FROM range(9)" }, "place has 1 different value"],
    [{ ...request, from: "SELECT i % 2 AS place, 5 AS value FROM range(9) t(i)" }, "All 5 values of 0 are equal"],
    [
      { ...request, from: "SELECT i % 2 AS place, i AS value FROM range(200000) t(i)" },
      "200000 rows, more than can be read here",
    ],
  ];
  for (const [asked, why] of refusals)
    expect([asked, await ask(asked)]).toEqual([asked, { isError: true, text: expect.stringContaining(why) }]);
});

test.each([
  ["correlation", { y: ["x", "value"] }],
  ["t_test", { y: ["value"], x: ["place"] }],
  ["t_test", { y: ["value"], against: 12 }],
  ["t_test", { y: ["x", "value"], paired: true, against: 1 }],
  ["mann_whitney", { y: ["value"], x: ["place"] }],
  ["anova", { y: ["value"], x: ["place"] }],
  ["regression", { y: ["value"], x: ["x"] }],
  ["confidence_interval", { y: ["value"], x: ["place"] }],
  ["confidence_interval", { y: ["value", "x"] }],
])("the intervals of %s are as wide as asked: %j", async (test, more) => {
  await table("asked.csv", { ...first, x: first.value.map((_, at) => (at * 7) % 11) });
  const text = await said({ test, from: "asked.csv", confidence: 0.9, ...more });
  expect(text).toContain("90 % CI");
  expect(text).not.toContain("95 % CI");
  if ("paired" in more) expect(text).toContain("Paired t test: is the mean of x − value 1?");
});

test("predictors are numbers, truth values or texts of a few kinds, each against the first by name", async () => {
  const ask = (from: string, x: string) => said({ test: "regression", from, y: ["v"], x: [x] });
  const kinds =
    "SELECT 9 - i AS v, i > 4 AS late, chr((107 - i % 3)::INTEGER) AS kind, 't' || i AS each FROM range(26) t(i)";
  expect(await ask(kinds, "late")).toContain("  late: ");
  const text = await ask(kinds, "kind");
  for (const one of ["kind = j (not i): ", "kind = k (not i): "]) expect(text).toContain(one);
  expect(await ask(kinds, "each")).toContain("each has 26 different texts, more than 20; group them in a SELECT.");
});

test("exact decimals and the largest integers are numbers", async () => {
  const from = "SELECT (i / 4)::DECIMAL(6, 2) AS d, i::HUGEINT AS h, i::UBIGINT AS u FROM range(4, 12) t(i)";
  const text = await said({ test: "confidence_interval", from, y: ["d", "h", "u"] });
  for (const one of ["d: n = 8, mean 1.875,", "h: n = 8, mean 7.5,", "u: n = 8, mean 7.5,"])
    expect(text).toContain(one);
});

test("an outlier is told with its number or with all its labels", async () => {
  const from = "SELECT i % 5 + CASE i WHEN 7 THEN 90 ELSE 0 END AS v, 'd' || i AS day, i AS n FROM range(20) t(i)";
  const request = { test: "outliers", from, y: ["v"] };
  expect(await said(request)).toContain("92 (row 8)");
  expect(await said({ ...request, x: ["day", "n"] })).toContain('92 (day "d7", n 7)');
});

test("a series along numbers is in their order, has one value at a time, and its season goes on to the end", async () => {
  const from = "SELECT 13 - i AS at, (13 - i) % 2 + 13 - i AS v FROM range(1, 13) t(i)";
  const request = { test: "decomposition", from, y: ["v"], x: ["at"], period: 2 };
  const file = /All parts: (\S+)/.exec(await said(request))?.[1] ?? "";
  const { rows } = await scene.databases.query(scene.workspace, `SELECT "at", v, season FROM '${file}'`, {
    signal: AbortSignal.timeout(60_000),
  });
  expect(rows.map(([at]) => Number(at))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(rows.map(([, v, season]) => [Number(v), season])).toEqual(
    Array.from({ length: 12 }, (_, at) => [at + 1 + ((at + 1) % 2), at % 2 === 0 ? 0.5 : -0.5]),
  );
  const twice = await said({ ...request, from: `${from} UNION ALL SELECT 5, 5` });
  expect(twice).toContain("at is 5 in several rows; a series has one value at a time");
  expect(await said({ ...request, period: undefined })).toContain("Name the period");
});

test("rows that are too long to be read whole are refused, never counted in part", async () => {
  const from = "SELECT i AS v, repeat('x', 300000) || i AS name FROM range(60) t(i)";
  const text = await said({ test: "outliers", from, y: ["v"], x: ["name"] });
  expect(text).toStartWith("60 rows, more than can be read here (100000, 16 MB).");
});

test("values unlike a normal distribution's lead to a test that does not need one", async () => {
  const from =
    "SELECT 'a' AS place, exp(i / 5.0) AS value FROM range(25) t(i) UNION ALL SELECT 'b', i FROM range(25) t(i)";
  expect(await said({ test: "t_test", from, y: ["value"], x: ["place"] })).toMatch(
    /normal values: does not hold in a \(p [=<] [\d.]+, skewness [\d.]+\) by D'Agostino and Pearson's K²: prefer mann_whitney\./,
  );
});
