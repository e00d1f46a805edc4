import { expect, test } from "bun:test";
import { type ChartRequest, type Plot, requireOneEach, resolveRoles } from "./chart-roles.ts";
import { type ChartTable, type ColumnKind, chartTable, records } from "./chart-table.ts";
import { fewEnough, inOrder } from "./plot-rows.ts";

const kinds: Readonly<Record<string, ColumnKind>> = { n: "number", t: "time", o: "order", s: "name" };
/** A table whose columns are written `name:kind`, with these rows. */
const table = (columns: string, ...rows: ChartTable["rows"][number][]): ChartTable => ({
  columns: columns.split(" ").map((one) => {
    const [name = "", kind = ""] = one.split(":");
    return { name, kind: kinds[kind] ?? "name" };
  }),
  rows,
});
const monthly = table("month:s region:s sales:n", ["Jan", "A", 1], ["Jan", "B", 2], ["Feb", "A", 3], ["Feb", "B", 4]);
const daily = table("day:t sales:n costs:n", ["2024-01-01", 1, 2], ["2024-01-02", 3, 4]);
const cities = table("city:s people:n", ["Rome", 3], ["Oslo", 1]);
const german = table("Monat:s Umsatz:s", ["Jan", "1.234,56"], ["Feb", "987"]);
const wide = (count: number) =>
  table(`day:t ${Array.from({ length: count }, (_, n) => `c${n}:n`).join(" ")}`, [
    "2024-01-01",
    ...Array.from({ length: count }, () => 1),
  ]);

test.each<[string, ChartTable, ChartRequest, string]>([
  ["names are bars", cities, {}, "bar along 0, measures 1"],
  ["times are a line", daily, {}, "line along 0, measures 1 2"],
  ["one y of two", daily, { y: ["costs"] }, "line along 0, measures 2"],
  ["a name in other letters", daily, { y: [" COSTS "], x: "Day" }, "line along 0, measures 2"],
  ["a calendar and what splits it", monthly, {}, "bar along 0, measures 2, parts 1"],
  ["no parts when rows are combined", monthly, { aggregate: "sum" }, "bar along 0, measures 2"],
  ["the series that is named", monthly, { x: "region", series: "month" }, "bar along 1, measures 2, parts 0"],
  ["a kind that is named", cities, { chart: "pie" }, "pie along 0, measures 1"],
  ["an area", daily, { chart: "area", y: ["sales"] }, "area along 0, measures 1"],
  ["rows that are counted", cities, { aggregate: "count", x: "city" }, "bar along 0, measures "],
  ["texts that are counted", monthly, { aggregate: "count", x: "month", y: ["region"] }, "bar along 0, measures 1"],
  ["numbers alone", table("a:n", [1], [2]), {}, "histogram along undefined, measures 0"],
  ["two numbers alone", table("a:n b:n", [1, 2], [2, 3]), {}, "scatter along undefined, measures 0 1"],
  [
    "points by group",
    table("g:s a:n b:n", ["x", 1, 2]),
    { chart: "scatter", series: "g" },
    "scatter along undefined, measures 1 2, parts 0",
  ],
  ["a histogram of x", daily, { chart: "histogram", x: "costs", y: [] }, "histogram along undefined, measures 2"],
  [
    "years and visitors of the day",
    table("year:o visitors of the day:o".replaceAll(" of the day", "_day"), [2023, 5], [2024, 7]),
    { x: "year" },
    "line along 0, measures 1",
  ],
  ["the first of two names", table("a:s b:s n:n", ["x", "y", 1]), {}, "bar along 0, measures 2"],
  [
    "of two names that differ in case the one written",
    table("Cost:n cost:n day:t", [1, 2, "1"]),
    { y: ["cost"] },
    "line along 2, measures 1",
  ],
  [
    "a measure does not split what it measures",
    table("day:t people:o", ["1", 3], ["1", 4]),
    { x: "day" },
    "line along 0, measures 1",
  ],
  ["quarters with a gap", table("who:s q:s n:n", ["x", "Q1", 1], ["y", null, 2]), {}, "bar along 1, measures 2"],
  ["quarters before names", table("who:s q:s n:n", ["x", "Q1", 1], ["y", "q2", 2]), {}, "bar along 1, measures 2"],
])("the columns of a chart follow from the table and the request: %s", (_, from, request, expected) => {
  const { kind, roles } = resolveRoles(from, request);
  const parts = roles.parts === undefined ? "" : `, parts ${roles.parts}`;
  expect(`${kind} along ${roles.along}, measures ${roles.measures.join(" ")}${parts}`).toBe(expected);
});

test.each<[ChartTable, ChartRequest, string]>([
  [
    cities,
    { x: "town" },
    'There is no column "town". The columns: city (names), people (numbers). Name them in the item:',
  ],
  [cities, { y: ["city"] }, 'y: city holds no numbers ("Rome", for example).'],
  [german, { y: ["Umsatz"] }, 'Umsatz holds numbers written as text, such as "1.234,56",'],
  [
    german,
    { y: ["umsatz"] },
    `COPY (SELECT * REPLACE (CAST(replace(regexp_replace("Umsatz", '[^0-9,-]', '', 'g'), ',', '.') AS DOUBLE) AS "Umsatz") FROM 'file.csv') TO 'numbers.csv'. The columns:`,
  ],
  [german, {}, "No column holds numbers. Umsatz holds numbers written as text,"],
  [cities, { chart: "histogram", y: ["people"], x: "people" }, "A histogram takes one column of numbers."],
  [cities, { chart: "scatter" }, "A scatter takes two columns of numbers, x and y."],
  [table("a:s b:s", ["x", "y"]), { x: "a" }, 'No column holds numbers. To count rows, say "aggregate": "count".'],
  [table("a:n b:n c:n", [1, 2, 3]), {}, "No column says what the numbers go along."],
  [table("a:n", [1]), { chart: "line" }, "No column says what the numbers go along."],
  [
    table("a:t b:t n:n", ["1", "2", 3]),
    {},
    "It is open whether x is a or b. The columns: a (times), b (times), n (numbers).",
  ],
  [table("a:s b:s c:s n:n", ["1", "2", "3", 4]), {}, "It is open whether x is a or b or c."],
  [
    table("d:t a:s b:s n:n", ["1", "x", "y", 1], ["1", "z", "y", 2]),
    {},
    "Several rows share their d: it is open which of the other columns makes the series.",
  ],
  [wide(11), {}, "There are 11 columns of numbers, more than the 10 that can be told apart."],
  [table("day:t g:s a:n b:n", ["1", "x", 1, 2]), { x: "day", series: "g" }, "Series go with one y."],
  [daily, { chart: "pie" }, "A pie has one y and no series."],
  [monthly, { chart: "pie" }, "A pie has one y and no series."],
])("what a table leaves open is refused: %#", (from, request, problem) => {
  expect(() => resolveRoles(from, request)).toThrow(
    expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(problem) }),
  );
});

test.each(["June", "jun.", "Dienstag", "août", "martes", "gennaio", "março", "woensdag", "六月", "星期二", "Q4", "h2"])(
  "%s is in order of time, so that the numbers go along it rather than along a name",
  (word) => {
    const named = resolveRoles(table("who:s when:s n:n", ["x", word, 1], ["y", word, 2]), {});
    expect(named.roles.along).toBe(1);
  },
);

test("each month is known", () => {
  for (const month of ["long", "short"] as const) {
    const format = new Intl.DateTimeFormat("en", { month, timeZone: "UTC" });
    const year = Array.from({ length: 12 }, (_, at) => ["x", format.format(Date.UTC(2024, at, 1)), at] as const);
    expect(resolveRoles(table("who:s when:s n:n", ...year), {}).roles.along).toBe(1);
  }
});

test("each weekday is known", () => {
  const week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].map((day, at) => ["x", day, at] as const);
  expect(resolveRoles(table("who:s when:s n:n", ...week), {}).roles.along).toBe(1);
});

test("a name that only looks like a part of the year is a name", () => {
  for (const word of ["Junius", "Q5", "May Street", "q"])
    expect([word, resolveRoles(table("who:s when:s n:n", ["x", word, 1], ["y", word, 2]), {}).roles.along]).toEqual([
      word,
      0,
    ]);
});

test("ten measures are drawn, and eleven are too many", () => {
  expect(resolveRoles(wide(10), {}).roles.measures).toHaveLength(10);
});

test("rows that share their place, and a pie of more than twelve slices, are refused", () => {
  const slices = (count: number): Plot => ({
    ...table("a:s n:n", ...Array.from({ length: count }, (_, n) => [`s${n}`, n])),
    roles: { along: 0, measures: [1], parts: undefined },
  });
  const split = { along: 0, measures: [2], parts: 1 };
  requireOneEach(slices(12), "pie");
  requireOneEach(slices(13), "bar");
  expect(() => requireOneEach(slices(13), "pie")).toThrow("A pie of 13 slices can't be read: 12 at most.");
  requireOneEach({ ...monthly, roles: split }, "line");
  expect(() => requireOneEach({ ...monthly, roles: { ...split, parts: undefined } }, "line")).toThrow(
    'Several rows share their month. Say how they become one value with "aggregate": sum, mean,',
  );
  const twice = { ...monthly, rows: [...monthly.rows, ["Feb", "B", 9]] };
  expect(() => requireOneEach({ ...twice, roles: split }, "line")).toThrow(
    "Several rows share their month and region.",
  );
  requireOneEach({ ...twice, roles: { along: undefined, measures: [2], parts: undefined } }, "scatter");
});

test("rows are sorted along numbers and times, names stay as they are", () => {
  const plot = (columns: string, ...places: (string | number | null)[]): Plot => ({
    ...table(columns, ...places.map((place) => [place, 1])),
    roles: { along: 0, measures: [1], parts: undefined },
  });
  const placesOf = ({ rows }: Plot) => rows.map(([place]) => place ?? null);
  expect(placesOf(inOrder(plot("a:o n:n", 10, 9, 100)))).toEqual([9, 10, 100]);
  expect(placesOf(inOrder(plot("a:t n:n", "2024-02", "2023-12", "2024-01")))).toEqual([
    "2023-12",
    "2024-01",
    "2024-02",
  ]);
  expect(placesOf(inOrder(plot("a:s n:n", "b", "a")))).toEqual(["b", "a"]);
});

test("sixty names and the ten largest series are drawn, and the result says what is not", () => {
  const names = (count: number): Plot => ({
    ...table("a:s n:n", ...Array.from({ length: count }, (_, n) => [`n${n}`, n])),
    roles: { along: 0, measures: [1], parts: undefined },
  });
  expect(fewEnough(names(60), "bar")).toEqual({ plot: names(60), notes: [] });
  const { plot, notes } = fewEnough(names(61), "bar");
  expect([plot.rows.length, plot.rows.at(-1)?.[0], notes]).toEqual([
    60,
    "n59",
    ["Only the first 60 of 61 names are drawn: sort by what matters, or sum up."],
  ]);
  const series = (count: number): Plot => ({
    ...table("d:t s:s n:n", ...Array.from({ length: count }, (_, n) => ["2024", `s${n}`, n === 0 ? -999 : n])),
    roles: { along: 0, measures: [2], parts: 1 },
  });
  expect(fewEnough(series(10), "line").notes).toEqual([]);
  const few = fewEnough(series(12), "line");
  // A large loss is large.
  expect(few.plot.rows.map(([, name]) => name)).toEqual(["s0", ...[3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => `s${n}`)]);
  expect(few.notes).toEqual(["Only the 10 of 12 names in s with the largest sums are drawn."]);
});

test("columns are numbers, times, periods that follow each other, or names, by their types and values", () => {
  const column = (name: string, type: string, ...values: unknown[]) => {
    const { columns, rows } = chartTable({ columns: [{ name, type }], rows: values.map((value) => [value]) as never });
    return [columns[0]?.kind, ...rows.map(([value]) => value ?? null)];
  };
  expect(column("a", "BIGINT", "12", 3, null)).toEqual(["number", 12, 3, null]);
  expect(column("a", "DECIMAL(9,2)", "1.50", "nan")).toEqual(["number", 1.5, null]);
  expect(column("fiscal_year", "INTEGER", 2023, 2024)).toEqual(["order", 2023, 2024]);
  expect(column("year", "DOUBLE", 2023.5)).toEqual(["number", 2023.5]);
  expect(column("a", "TIMESTAMP", "2024-01-01 00:00:00")[0]).toBe("time");
  for (const period of ["2024-03", "2024 Q1", "2024W07", "2024-H2", "202412"])
    expect([period, column("a", "VARCHAR", period)[0]]).toEqual([period, "order"]);
  for (const name of ["2024-13", "2024 Q5", "24-03", "x2024-03"])
    expect([name, column("a", "VARCHAR", name, "2024-03")[0]]).toEqual([name, "name"]);
  expect(column("a", "VARCHAR", null)[0]).toBe("name");
  expect(column("a", "INTEGER[]", [1, 2])).toEqual(["name", "[1,2]"]);
  expect(records(table("a:s b:n", ["x", 1], ["y"]))).toEqual([
    { a: "x", b: 1 },
    { a: "y", b: null },
  ]);
});
