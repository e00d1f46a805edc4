import { afterAll, beforeAll, expect, test } from "bun:test";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { type DataScene, dataScene } from "../../../testing/data/data.ts";
import { dataVisualization } from "../data-visualization.ts";
import { describeData } from "../describe-data.ts";
import { sqlQuery } from "../sql-query.ts";
import { statistics } from "../statistics.ts";

const bank =
  "Konto 4711;;\nZeitraum: Januar;;\n;;\nTag;Wer;Betrag\n3.1.2026;Hof;1.001,5\n4.1.2026;Ulm;2,75\n5.1.2026;Ulm;3,75\n";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
  await scene.write("bank.csv", bank);
  await scene.write("old.csv", Buffer.from(bank.replaceAll("Ulm", "Köln"), "latin1"));
  await scene.write("bank.txt", bank);
  await scene.write("two.csv", "Wer;Ort\nHof;Saale\n");
});
afterAll(() => scene[Symbol.asyncDispose]());

const query = (sql: string) => scene.databases.query(scene.workspace, sql, { signal: AbortSignal.timeout(60_000) });

test.each(["bank.csv", "old.csv", "bank.txt"])("every data tool sees the same table in %s", async (file) => {
  const chart = { csvFilePath: file, chartTitle: "t", chart: "line", x: "Tag", y: "Betrag" };
  const calls: [Parameters<DataScene["call"]>[0], unknown, string][] = [
    [describeData(scene), { path: file }, "Betrag | DOUBLE | 0.00 % | 3 | 2.75 | 1001.5 | 336"],
    [sqlQuery(scene), { sql: `SELECT sum(Betrag) AS s, min(Tag) AS d FROM '${file}'` }, "1008 | 2026-01-03"],
    [statistics(scene), { test: "confidence_interval", from: file, y: ["Betrag"] }, "mean 336"],
    [
      dataVisualization(scene),
      { charts: [chart], output_type: "html", tool_type: "visualization" },
      "y = Betrag, 3 points",
    ],
  ];
  for (const [tool, input, told] of calls) {
    const { text, isError } = await scene.call(tool, input);
    expect([tool.name, isError ? text : "", text]).toEqual([tool.name, "", expect.stringContaining(told)]);
    expect(text).toContain(
      `Note: ${file}: 3 lines stand above the table and are left out; FROM read_csv('${file}') has`,
    );
    expect(text).toContain(
      `Note: ${file}: numbers are read with decimal commas and points between thousands (Betrag).`,
    );
    expect(text).not.toContain('memory."file');
  }
});

test.each([
  ["SELECT bank.Betrag FROM 'bank.csv'", 3],
  ["SELECT b.Betrag, two.Ort FROM \"bank.csv\" AS b JOIN 'two.csv' USING (Wer)", 1],
  ["SELECT a.Betrag FROM 'bank.csv' a, 'old.csv' WHERE a.Tag = old.Tag", 3],
  ["SUMMARIZE 'bank.csv'", 3],
  ["DESCRIBE 'bank.csv'", 3],
  ["PIVOT 'bank.csv' ON Wer USING sum(Betrag) GROUP BY Tag", 3],
  ["WITH t AS (FROM 'bank.csv') SELECT Betrag + 1 FROM t", 3],
  ["CREATE OR REPLACE TABLE kept AS FROM 'bank.csv'; SELECT Betrag FROM kept", 3],
  ["BEGIN; CREATE OR REPLACE TABLE gone AS SELECT Betrag FROM 'bank.txt'; ROLLBACK; SELECT Betrag FROM 'bank.txt'", 3],
  [
    "CREATE OR REPLACE TABLE raw (a VARCHAR, b VARCHAR, c VARCHAR); COPY raw FROM 'bank.csv' (HEADER false); FROM raw",
    7,
  ],
  ["FROM read_csv('bank.csv', header = false)", 7],
  ["SELECT 'bank.csv' AS name", 1],
])("a statement reads it wherever the file's bare name stands for a table: %s", async (sql, count) => {
  expect((await query(sql)).rows).toHaveLength(count);
});

test("a file is read within a transaction that has read, or written elsewhere, and nothing of it is lost", async () => {
  await query("ATTACH ':memory:' AS other");
  for (const [index, first] of ["CREATE TABLE other.kept AS SELECT 1 AS a", "SELECT 1 FROM 'two.csv'"].entries()) {
    const file = `later${index}.csv`;
    await scene.write(file, bank);
    await query(`BEGIN; ${first}`);
    expect((await query(`SELECT sum(Betrag) FROM '${file}'`)).rows).toEqual([[1008]]);
    expect((await query(`SELECT b.Wer FROM '${file}' AS b LIMIT 1`)).rows).toEqual([["Hof"]]);
    expect((await query(`SUMMARIZE '${file}'`)).rows).toHaveLength(3);
    await query("COMMIT");
    expect((await query(`SELECT later${index}.Wer FROM '${file}' LIMIT 1`)).rows).toEqual([["Hof"]]);
  }
  expect((await query("FROM other.kept")).rows).toEqual([[1]]);
});

test("an error names the file, and a file is looked at anew once it has changed", async () => {
  await expect(query("SELECT nix FROM 'bank.csv'")).rejects.toThrow("FROM 'bank.csv'");
  const rewrite = async (content: string, time: number) => {
    await scene.write("changing.csv", content);
    await utimes(join(scene.workspace.root, "changing.csv"), time, time);
    return (await query("FROM 'changing.csv'")).rows;
  };
  expect(await rewrite("Konto;;\nWer;Wert;Ort\nHof;1,5;Ulm\n", 1)).toEqual([["Hof", 1.5, "Ulm"]]);
  expect(await rewrite("Wer;Wert;Ort\nHof;2,5;Ulm\n", 2)).toEqual([["Hof", 2.5, "Ulm"]]);
  expect(await rewrite("Wer,Wert\nHof,3.5\n", 3)).toEqual([["Hof", 3.5]]);
});

test.each<[string, string, readonly string[]]>([
  ["years", "city,2019,2020\nBonn,1,2\nHof,3,4\n", ["city", "2019", "2020"]],
  ["one year", "city,2019\nBonn,1\nHof,3\n", ["city", "2019"]],
  ["years among years", "Bonn,2019\nHof,2020\n", ["column0", "column1"]],
  ["no names", "Bonn,3\nHof,10\n", ["column0", "column1"]],
])("what names the columns is the same for all: %s", async (name, content, columns) => {
  await scene.write(`${name}.csv`, content);
  expect((await query(`FROM '${name}.csv'`)).columns.map((column) => column.name)).toEqual([...columns]);
});

test("texts with points stay texts beside numbers with commas", async () => {
  await scene.write("versions.csv", "version;share\n1.2.3;1,5\n1.20;2,5\n");
  expect((await query("FROM 'versions.csv'")).rows).toEqual([
    ["1.2.3", 1.5],
    ["1.20", 2.5],
  ]);
});

test.each<[string, string, readonly string[], readonly unknown[], string]>([
  [
    "units",
    "time,temp,hum,state\nUTC,°C,%,\n2026-01-01T00:00,1.5,60,ok\n2026-01-01T01:00,2.5,61,ok\n",
    ["time UTC", "temp °C", "hum %", "state"],
    ["2026-01-01 00:00:00", 1.5, "60", "ok"],
    "two lines name the columns (time UTC, temp °C, hum % …)",
  ],
  [
    "groups",
    "Region,2024,,2025,\n,Units,Sales,Units,Sales\nNorth,1,2.5,3,4\nSouth,5,6,7,8\n",
    ["Region", "2024 Units", "2024 Sales", "2025 Units", "2025 Sales"],
    ["North", "1", 2.5, "3", "4"],
    "two lines name the columns (Region, 2024 Units, 2024 Sales …)",
  ],
  [
    "ragged",
    'id,name,score\n1,"hi" there,5\n2,he said "no,6\n3,many,7,more\n4,b,8\n5,c,9\n6,short\n7,d,1\n8,e,2\n9,f,3\n10,g,4\n11,h,5\n',
    ["id", "name", "score", "column3"],
    ["1", '"hi" there', "5", null],
    "some lines have a value too many or too few",
  ],
  [
    "years of two digits",
    "Tag;Wert\n01.02.25;1\n05.02.25;2\n09.02.25;3\n",
    ["Tag", "Wert"],
    ["2025-02-01", "1"],
    "dates with a year of two digits are read day first (dateformat = '%d.%m.%y')",
  ],
])("the table is found in a file with %s", async (name, content, columns, row, note) => {
  await scene.write(`${name}.csv`, content);
  const result = await query(`FROM '${name}.csv'`);
  expect(result.columns.map((column) => column.name)).toEqual([...columns]);
  expect([...(result.rows[0] ?? [])] as unknown[]).toEqual([...row]);
  expect(result.notes.join()).toContain(note);
});

test.each([
  ["a first row of texts alone", "a,b,c\nx,n/a,n/a\ny,1,2\nz,3,4\n", 3],
  ["a first row without numbers", "a,b\nx,unknown\ny,z\n", 2],
  ["lines of one column", "note\nfirst, second\nthird\n", 2],
])("it is not looked for in a file with %s", async (name, content, rows) => {
  await scene.write(`${name}.csv`, content);
  const result = await query(`FROM '${name}.csv'`);
  expect([result.rows.length, result.notes]).toEqual([rows, []]);
});
