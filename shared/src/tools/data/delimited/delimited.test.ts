import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DataScene, dataScene } from "../../../testing/data/data.ts";
import { dataVisualization } from "../data-visualization.ts";
import { describeData } from "../describe-data.ts";
import { statistics } from "../statistics.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const describe = async (path: string, content: string) => {
  await scene.write(path, content);
  return (await scene.call(describeData(scene), { path })).text;
};
/** The rows of a table that an answer names. */
const read = async (table = "") =>
  (await scene.databases.query(scene.workspace, `FROM ${table}`, { signal: AbortSignal.timeout(60_000) })).rows;

test("decimal commas and thousands are read as numbers, and the answer says so", async () => {
  const text = await describe("de.csv", "Stadt;Einwohner;Kurs\nBonn;1.234;1.001,5\nKöln;12.500;2,75\nHof;950;\n");
  expect(text).toContain("Note: de.csv: numbers are read with decimal commas and points between thousands (Kurs).");
  for (const doubt of ["need cleaning", "three digits follow every point"]) expect(text).not.toContain(doubt);
  const rows = [
    ["Bonn", "1234", 1001.5],
    ["Köln", "12500", 2.75],
    ["Hof", "950", null],
  ];
  expect(await read("'de.csv'")).toEqual(rows);
});

test("thousands without any comma are told with the table that reads them as such", async () => {
  const text = await describe("towns of three.csv", "Stadt;Einwohner\nBonn;1.234\nKöln;12.500\n");
  expect(await read("'towns of three.csv'")).toEqual([
    ["Bonn", 1.234],
    ["Köln", 12.5],
  ]);
  expect(await read(/- Einwohner: .*FROM (read_csv\(.*?\)) reads/.exec(text)?.[1])).toEqual([
    ["Bonn", "1234"],
    ["Köln", "12500"],
  ]);
});

test.each<[string, string, boolean]>([
  ["points only, and a semicolon", "a;b\nx;1.234\ny;12.500\n", true],
  ["dates with points", "a,b,c\n03.04.2026,1.234,x\n13.04.2026,12.500,y\n", true],
  ["no other sign", "a,b\nx,1.234\ny,12.500\n", false],
  ["two digits behind one point", "a;b\nx;1.234\ny;12.50\n", false],
  ["a nought before the point", "a;b\nx;0.234\ny;12.500\n", false],
  ["four digits without a point", "a;b\nx;1.234\ny;1250\n", false],
  ["no point at all", "a;b\nx;123\ny;125\n", false],
  ["decimals in another column", "a;b;c\nx;1.234;1.5\ny;12.500;2.25\n", false],
])("thousands are suspected by all values and another sign of the file: %s", async (name, content, isTold) => {
  const text = await describe(`${name}.csv`, content);
  expect(text.includes("three digits follow every point")).toBe(isTold);
});

test.each([
  ["English thousands", 'a;b\nx;"1,234"\ny;"12,500"\n'],
  ["articles", "a;b\nx;1,2,3\ny;1,5\n"],
])("%s are not read with decimal commas", async (name, content) => {
  expect(await describe(`${name}.csv`, content)).not.toContain("decimal commas");
});

test("a chart and a statistic of such thousands say so, of other columns they do not", async () => {
  await scene.write("towns.csv", "town;people;n\nBonn;1.234;1\nHof;12.500;2\nUlm;3.750;4\n");
  const chart = (y: string) =>
    scene.call(dataVisualization(scene), {
      charts: [{ csvFilePath: "towns.csv", chartTitle: "t", x: "town", y }],
      ...{ output_type: "html", tool_type: "visualization" },
    });
  const statistic = (y: string) =>
    scene.call(statistics(scene), { test: "confidence_interval", from: "towns.csv", y: [y] });
  for (const call of [chart, statistic])
    expect([
      (await call("people")).text.includes("Note: people: read as decimals"),
      (await call("n")).text.includes("read as decimals"),
    ]).toEqual([true, false]);
});

test.each<[string, string, number]>([
  ["a bank statement", "Konto 4711;;;\nZeitraum: Januar;;;\n;;;\nTag;Wer;Betrag;Saldo\n3.1.2026;Hof;1,5;2,5\n", 3],
  ["a blank line", "Sales,,\n\nName,Value,Text\na,1,x\nb,2,y\n", 2],
  ["a header without its last name", "Sales,,,,\nA,B,C,D,\n1,2,3,4,\n", 1],
])("lines above the table are left out, and the answer says so: %s", async (name, content, headings) => {
  const text = await describe(`${name}.csv`, content);
  const lines =
    headings === 1 ? "1 line stands above the table and is" : `${headings} lines stand above the table and are`;
  expect(text).toContain(`Note: ${name}.csv: ${lines} left out; FROM read_csv('${name}.csv') has`);
  const rows = await read(`'${name}.csv'`);
  expect(text).toContain(`${name}.csv: ${rows.length} ${rows.length === 1 ? "row" : "rows"},`);
});

test.each([
  ["names for few columns", "a,,\n1,2,3\n4,5,6\n"],
  ["names for half of the columns", "a,b,,\nx,y,z,u\n"],
  ["no names", "1;2;3\n4;5;6\n"],
  ["one column", "Sales\nName\nx\n"],
  ["texts that are rows", "x,,\ny,,\nz,1,2\n"],
])("a file whose first line may name its columns is described as it is: %s", async (name, content) => {
  expect(await describe(`${name}.csv`, content)).not.toContain("above the table");
});

test.each<[string, readonly string[], string | undefined]>([
  [
    "slashes",
    ["03/04/2026", "05/06/2026"],
    "read day first (%d/%m/%Y), but each value could also be month first (dateformat = '%m/%d/%Y')",
  ],
  [
    "hyphens",
    ["03-04-2026", "05-06-2026"],
    "read day first (%d-%m-%Y), but each value could also be month first (dateformat = '%m-%d-%Y')",
  ],
  [
    "times",
    ["03/04/2026 10:00:00", "05/06/2026 11:00:00"],
    "read day first (%d/%m/%Y %H:%M:%S), but each value could also be month first (timestampformat = '%m/%d/%Y %H:%M:%S')",
  ],
  ["short years", ["15.04.26", "16.05.26"], undefined],
  [
    "any order",
    ["03/04/26", "05/06/26"],
    "read year first (%y/%m/%d), but each value could also be day first (dateformat = '%d/%m/%y') or month first (dateformat = '%m/%d/%y')",
  ],
  [
    "texts",
    ["03/04/2026 10:00", "05/06/2026 11:00"],
    "dates kept as text, each of which may be day first or month first",
  ],
  ["a day that tells", ["03/04/2026", "05/16/2026"], undefined],
  ["points", ["03.04.2026", "05.06.2026"], undefined],
  ["the standard", ["2026-03-04", "2026-05-06"], undefined],
])("the order of day and month is told where the dates do not tell it: %s", async (name, dates, told) => {
  const text = await describe(`dates, ${name}.csv`, `d,v\n${dates.map((date, at) => `${date},${at}\n`).join("")}`);
  expect(/^- d: (.*)$/m.exec(text)?.[1]).toBe(told as string);
});
