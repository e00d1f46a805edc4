import { expect, test } from "bun:test";
import type { ChartKind, ChartRoles } from "./chart-roles.ts";
import type { ChartTable } from "./chart-table.ts";
import { drawnText } from "./drawn-text.ts";

const table = (names: string, ...rows: ChartTable["rows"]): ChartTable => ({
  columns: names.split(" ").map((name) => ({ name, kind: "name" })),
  rows,
});
const roles = (along: number | undefined, measures: readonly number[], parts?: number): ChartRoles => ({
  ...{ along, measures, parts },
});
const flows = table("from to n", ["a", "x", 1], ["a", "y", 2], ["b", "y", 0], ["b", "x", 3]);
const parted = table("day shop n", ["1", "A", 1], ["1", "B", null], ["2", "A", 3]);
const places = table("who lon lat size", ["a", 1, 2, 3], ["b", 4, 5, 6]);

test.each<[ChartTable, ChartKind, ChartRoles, string]>([
  [parted, "line", roles(0, [2], 1), "line, x = day, y = n, 2 series by shop (A, B), 2 points"],
  [parted, "bar", roles(0, [2]), "bar, x = day, y = n, 2 points"],
  [table("d a b", ["1", 2, 3], ["2", null, 4]), "line", roles(0, [1, 2]), "line, x = d, 2 series (a, b), 3 points"],
  [table("a", [1]), "histogram", roles(undefined, [0]), "histogram, x = a, y = how often, 1 point"],
  [table("a b", [1, 2], [3, 4]), "scatter", roles(undefined, [0, 1]), "scatter, x = a, y = b, 4 points"],
  [
    table("g a b", ["x", 1, 2]),
    "scatter",
    roles(undefined, [1, 2], 0),
    "scatter, x = a, y = b, 1 series by g (x), 2 points",
  ],
  [flows, "sankey", roles(0, [2], 1), "sankey, 3 flows, source = from (2 names), target = to (2 names), width = n"],
  [
    table("from to n", ["a", "x", 1]),
    "sankey",
    roles(0, [2], 1),
    "sankey, 1 flow, source = from (1 name), target = to (1 name), width = n",
  ],
  [flows, "treemap", roles(1, [2]), "treemap, 4 areas of to, size = n"],
  [flows, "treemap", roles(1, [2], 0), "treemap, 4 areas of to in 2 groups by from, size = n"],
  [flows, "wordcloud", roles(1, [2]), "wordcloud, 4 words of to, size = n"],
  [flows, "map", roles(0, [2]), "map, 2 countries of from, colour = n"],
  [places, "map", roles(undefined, [1, 2]), "map, 2 places by longitude lon and latitude lat"],
  [
    places,
    "map",
    roles(undefined, [1, 2, 3], 0),
    "map, 2 places by longitude lon and latitude lat, size = size, colour = who",
  ],
])("of a table it is said what is drawn: %#", (from, kind, by, told) => {
  expect(drawnText({ ...from, roles: by }, { kind, unused: [] })).toBe(`Drawn: ${told}; not drawn: nothing.`);
});

test("twelve series are named, and columns that are not drawn", () => {
  const many = (count: number, unused = ["a", "b"]) =>
    drawnText(
      { ...table("d s n", ...Array.from({ length: count }, (_, at) => ["1", `s${at}`, at])), roles: roles(0, [2], 1) },
      { kind: "line", unused },
    );
  const columns = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`);
  const one = drawnText({ ...parted, roles: roles(0, [2]) }, { kind: "bar", unused: ["shop"] });
  expect(one).toEndWith("; not drawn: column shop.");
  expect(many(12)).toContain("12 series by s (s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11), 12 points;");
  expect(many(13)).toContain("s10, s11, …), 13 points; not drawn: column a, b.");
  expect(many(1, columns(20))).toEndWith("c18, c19.");
  expect(many(1, columns(21))).toEndWith("c10, c11 and 9 more.");
});
