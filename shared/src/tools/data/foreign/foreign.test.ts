import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { writeXlsx } from "hucre/xlsx";
import { type DataScene, dataScene } from "../../../testing/data/data.ts";
import { describeData } from "../describe-data.ts";
import { sqlQuery } from "../sql-query.ts";
import { statistics } from "../statistics.ts";
import { foreignNames } from "./foreign-name.ts";

let scene: DataScene;
const day = (text: string) => new Date(`${text}Z`);
beforeAll(async () => {
  scene = await dataScene();
  await scene.write("book.xlsx", await book());
  const database = new Database(join(scene.workspace.root, "shop.db"));
  database.run("CREATE TABLE orders (id INTEGER, at TEXT, note TEXT, big INTEGER)");
  database.run("INSERT INTO orders VALUES (1, '2024-03-01 10:00:00', '007', 9007199254740993), (0, NULL, '', NULL)");
  database.run('CREATE TABLE "odd name" (x REAL)');
  database.run('INSERT INTO "odd name" VALUES (1.5), (2)');
  database.close();
});
afterAll(() => scene[Symbol.asyncDispose]());

const sql = (text: string, timeout?: number) => scene.call(sqlQuery(scene), { sql: text, timeout: timeout ?? null });
const rowsOf = async (text: string) => (await sql(text)).text.split("\n");

function book(): Promise<Uint8Array> {
  return writeXlsx({
    sheets: [
      {
        name: "Sales 2024",
        rows: [
          ["Region", "Amount", "Day", "When", "Paid", "Code", null],
          ["北", 10, day("2024-02-29T00:00:00"), day("2024-02-29T13:45:30"), true, "001", 1],
          [],
          ["south", 0.5, day("1999-12-31T00:00:00"), day("1999-12-31T00:00:00"), false, 7, null],
        ],
      },
      {
        name: "Plain",
        rows: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
  });
}

test("names between quotes that are workbooks or SQLite files are found, with their part", () => {
  expect(foreignNames(`SELECT 'it''s' FROM 'a b.xlsx' JOIN "shop.DB/odd ""name""" USING (x), 'sales.csv'`)).toEqual([
    { name: "a b.xlsx", file: "a b.xlsx", part: undefined, kind: "workbook" },
    { name: 'shop.DB/odd "name"', file: "shop.DB", part: 'odd "name"', kind: "sqlite" },
  ]);
});

test("the first sheet is the workbook's table, with types, dates and times as they are", async () => {
  expect(await rowsOf("FROM 'book.xlsx'")).toEqual([
    "Region | Amount | Day | When | Paid | Code | column_7",
    "VARCHAR | DOUBLE | DATE | TIMESTAMP | BOOLEAN | VARCHAR | BIGINT",
    "北 | 10 | 2024-02-29 | 2024-02-29 13:45:30 | true | 001 | 1",
    "south | 0.5 | 1999-12-31 | 1999-12-31 00:00:00 | false | 7 | NULL",
    "[2 rows]",
  ]);
});

test("another sheet is named after the file, without a header row its columns are numbered, and * lists them", async () => {
  expect((await rowsOf(`SELECT sum(column_2) AS n FROM "book.xlsx/Plain"`))[2]).toBe("6");
  expect((await rowsOf("FROM 'book.xlsx/*'")).slice(2, 4)).toEqual(["Sales 2024", "Plain"]);
  const { text, isError } = await sql("FROM 'book.xlsx/None'");
  expect(isError).toBe(true);
  expect(text).toContain("Name one of 'book.xlsx/Sales 2024', 'book.xlsx/Plain'");
});

test("titles above a table are skipped, times of day are times, and an empty sheet is reported", async () => {
  const time = new Date(Date.UTC(1899, 11, 30, 13, 45, 30));
  const made = await writeXlsx({
    sheets: [
      { name: "S", rows: [["Quarterly report"], [], ["Shift", "Begins"], ["late", time]] },
      { name: "Nothing", rows: [] },
      { name: "Far", rows: [["Report"], ["of May"], ["in EUR"], ["Shift", "Sum"], ["late", 1]] },
    ],
  });
  await scene.write("titled.xlsx", made);
  expect(await rowsOf("FROM 'titled.xlsx'")).toEqual([
    "Shift | Begins",
    "VARCHAR | TIME",
    "late | 13:45:30",
    "[1 row]",
  ]);
  expect((await rowsOf("FROM 'titled.xlsx/Far'")).slice(0, 3)).toEqual(["Shift | Sum", "VARCHAR | BIGINT", "late | 1"]);
  expect((await sql("FROM 'titled.xlsx/Nothing'")).text).toBe(
    "titled.xlsx could not be read: the sheet Nothing is empty.",
  );
});

test("formulas whose values no program stored are computed, or named wherever the workbook is read, each time", async () => {
  const made = await writeXlsx({
    sheets: [
      {
        name: "S",
        rows: [
          ["item", "price", "total"],
          ["a", 2, null],
          ["b", 3, null],
        ],
        cells: new Map([
          ["1,2", { formula: "AGGREGATE(9,6,B2)" }],
          ["2,2", { formula: "B3*2", formulaResult: 6 }],
          ["3,1", { formula: "AGGREGATE(9,6,B2:B3)" }],
        ]),
      },
      { name: "Sums", rows: [], cells: new Map([["0,0", { formula: "AGGREGATE(9,6,S!B2:B3)" }]]) },
      {
        name: "Plain",
        rows: [
          ["item", "price", "total", "due"],
          ["a", 2, null, new Date(Date.UTC(2026, 0, 5))],
          ["b", 3, null, null],
        ],
        cells: new Map([
          ["1,2", { formula: "B2*2" }],
          ["1,3", { style: { numFmt: "yyyy-mm-dd" } }],
          ["2,2", { formula: "SUM(C2,S!B3)" }],
          ["2,3", { formula: "D2+1", style: { numFmt: "yyyy-mm-dd" } }],
        ]),
      },
    ],
  });
  await scene.write("formulas.xlsx", made);
  const note =
    "Note: formulas.xlsx/S: 2 cells have a formula without a stored value and are NULL here (total: 1, price: 1; the first is C2).";
  expect((await sql("FROM 'formulas.xlsx/S'")).text).toContain(`\nb | 3 | 6\n[2 rows]\n${note}`);
  expect((await sql("SELECT sum(total) FROM 'formulas.xlsx/S'")).text).toContain(note);
  expect((await sql("FROM 'formulas.xlsx/Plain'")).text).toBe(
    [
      "item | price | total | due",
      "VARCHAR | BIGINT | BIGINT | DATE",
      "a | 2 | 4 | 2026-01-05",
      "b | 3 | 7 | 2026-01-06",
      "[2 rows]",
      "Note: formulas.xlsx/Plain: 3 cells have formulas without stored values, which were computed here.",
    ].join("\n"),
  );
  expect((await sql("COPY (FROM 'formulas.xlsx/S') TO 'out.csv'")).text).toContain(note);
  expect((await scene.call(describeData(scene), { path: "formulas.xlsx/S" })).text).toContain(note);
  const mean = { test: "confidence_interval", from: "SELECT price FROM 'formulas.xlsx/S'", y: ["price"] };
  expect((await scene.call(statistics(scene), mean)).text).toContain(note);
  expect((await sql("FROM 'formulas.xlsx/Sums'")).text).toContain("the sheet Sums has only formulas without stored");
  expect((await sql("FROM 'book.xlsx'")).text).not.toContain("Note:");
});

test("a changed file is read again", async () => {
  const make = (value: number) => writeXlsx({ sheets: [{ name: "S", rows: [["n"], [value]] }] });
  await scene.write("changing.xlsx", await make(1));
  expect((await rowsOf("FROM 'changing.xlsx'"))[2]).toBe("1");
  await scene.write("changing.xlsx", await make(12345));
  expect((await rowsOf("FROM 'changing.xlsx'"))[2]).toBe("12345");
});

test("a file that changed is read again though it has the same size, and one that keeps a log gets none by being read", async () => {
  const path = join(scene.workspace.root, "same.db");
  const change = (sql: string) => {
    const database = new Database(path);
    database.run("PRAGMA journal_mode = WAL");
    database.run(sql);
    database.close();
  };
  change("CREATE TABLE t AS SELECT 1 AS n");
  expect((await rowsOf("FROM 'same.db'"))[2]).toBe("1");
  change("UPDATE t SET n = 2");
  expect((await rowsOf("FROM 'same.db'"))[2]).toBe("2");
  expect([await scene.exists("same.db-wal"), await scene.exists("same.db-shm")]).toEqual([false, false]);
});

test("tables of an SQLite file can be joined with other files; its texts stay texts and its integers exact", async () => {
  expect(await rowsOf("FROM 'shop.db/orders' ORDER BY id DESC")).toEqual([
    "id | at | note | big",
    "BIGINT | TIMESTAMP | VARCHAR | BIGINT",
    "1 | 2024-03-01 10:00:00 | 007 | 9007199254740993",
    "0 | NULL |  | NULL",
    "[2 rows]",
  ]);
  expect((await rowsOf("SELECT x, n FROM 'shop.db/odd name', 'changing.xlsx' AS c ORDER BY x"))[2]).toBe("1.5 | 12345");
  expect((await sql("FROM 'shop.db'")).text).toContain("Name one of 'shop.db/odd name', 'shop.db/orders'");
});

test("every row of a table of many thousands is there once, with the type that all values of its column share", async () => {
  const database = new Database(join(scene.workspace.root, "many.db"));
  database.run("CREATE TABLE t (n, part, mixed, raw, day)");
  database.run(`INSERT INTO t WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5000)
    SELECT i, CASE i WHEN 4999 THEN 0.5 ELSE i END, CASE i WHEN 5000 THEN 'x' ELSE i END, x'00ff', '2024-01-01' FROM r`);
  database.close();
  const sums =
    "SELECT count(*) AS a, count(DISTINCT n) AS b, sum(n) AS c, sum(part) AS d, max(mixed) AS e, min(hex(raw)) AS f, typeof(any_value(part)) AS g, typeof(any_value(raw)) AS h, typeof(any_value(day)) AS i FROM 'many.db'";
  expect((await rowsOf(sums))[2]).toBe("5000 | 5000 | 12502500 | 12497501.5 | x | 00FF | DOUBLE | BLOB | DATE");
});

test("a date that no calendar has stays the text it is, and is told as odd", async () => {
  const database = new Database(join(scene.workspace.root, "days.db"));
  database.run("CREATE TABLE t (day TEXT, at TEXT, fine TEXT)");
  database.run(
    "INSERT INTO t VALUES ('2024-02-28', '2024-01-01 23:59', '2024-02-29'), ('2024-02-31', '2024-01-01 24:00', NULL)",
  );
  database.close();
  expect(await rowsOf("FROM 'days.db'")).toEqual([
    "day | at | fine",
    "VARCHAR | VARCHAR | DATE",
    "2024-02-28 | 2024-01-01 23:59 | 2024-02-29",
    "2024-02-31 | 2024-01-01 24:00 | NULL",
    "[2 rows]",
  ]);
  const { text } = await scene.call(describeData(scene), { path: "days.db" });
  expect(text).toContain("- day: 1 date that cannot be, such as '2024-02-31'");
});

test("an SQLite file in use is read with its log, and nothing is left beside one that is not", async () => {
  const open = new Database(join(scene.workspace.root, "live.sqlite"));
  open.run("PRAGMA journal_mode = WAL");
  open.run("CREATE TABLE t (n INTEGER)");
  open.run("INSERT INTO t VALUES (42)");
  expect((await rowsOf("FROM 'live.sqlite'"))[2]).toBe("42");
  open.close();
  expect(await scene.exists("shop.db-wal")).toBe(false);
  expect(await scene.exists("shop.db-shm")).toBe(false);
});

test("describing a workbook or SQLite file lists its parts and describes the first, or the named one", async () => {
  const { text } = await scene.call(describeData(scene), { path: "book.xlsx" });
  expect(text).toStartWith(
    "book.xlsx holds, as a query names them: 'book.xlsx/Sales 2024', 'book.xlsx/Plain'\nHere is 'book.xlsx/Sales 2024'.",
  );
  expect(text).toContain("book.xlsx: 2 rows, 7 columns");
  expect((await scene.call(describeData(scene), { path: "shop.db/odd name" })).text).toContain(
    "x | DOUBLE | 0.00 % | 2 | 1.5 | 2.0",
  );
});

test("a file that only has the extension, is outside or is missing is refused, with the reason", async () => {
  await scene.write("fake.xlsx", "not a zip");
  await scene.write("fake.sqlite", "not a database");
  expect((await sql("FROM 'fake.xlsx'")).text).toStartWith("fake.xlsx could not be read: ");
  const fake = await sql("FROM 'fake.sqlite'");
  expect([fake.isError, fake.text]).toEqual([true, "fake.sqlite could not be read: it is no SQLite file."]);
  await Bun.write(join(scene.home, "secret.db"), await Bun.file(join(scene.workspace.root, "shop.db")).bytes());
  await symlink(join(scene.home, "secret.db"), join(scene.workspace.root, "innocent.db"));
  for (const name of ["innocent.db/orders", "../../../secret.db/orders", `${scene.home}/secret.db/orders`]) {
    const { text, isError } = await sql(`FROM '${name}'`);
    expect({ name, isError, text }).toEqual({
      name,
      isError: true,
      text: expect.stringMatching(/does not exist|Permission Error|Cannot access/),
    });
    expect(text).not.toContain("007");
  }
});

test("a workbook that is a zip bomb is refused, and the next query is answered", async () => {
  const cell = `<row><c t="inlineStr"><is><t>${"a".repeat(1000)}</t></is></c></row>`;
  await scene.write("bomb.xlsx", await bomb(cell, 400_000));
  const { text, isError } = await sql("FROM 'bomb.xlsx'", 20);
  expect(isError).toBe(true);
  expect(text).toBe("bomb.xlsx could not be read: S holds more than 256 MB of text.");
  expect((await sql("SELECT 1 AS one")).isError).toBe(false);
});

test("of a file's tables its own are listed, not those that SQLite keeps for itself", async () => {
  const database = new Database(join(scene.workspace.root, "counted.db"));
  database.run("CREATE TABLE sqlitex (id INTEGER PRIMARY KEY AUTOINCREMENT)");
  database.run("INSERT INTO sqlitex DEFAULT VALUES");
  database.close();
  expect((await rowsOf("FROM 'counted.db/*'")).slice(2)).toEqual(["sqlitex", "[1 row]"]);
  expect((await rowsOf("FROM 'counted.db'"))[2]).toBe("1");
});

test("a view, which might never end, is not read", async () => {
  const database = new Database(join(scene.workspace.root, "endless.db"));
  database.run("CREATE TABLE t (n INTEGER)");
  const endless = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT max(i) AS m FROM r";
  database.run(`CREATE VIEW v AS ${endless}`);
  database.close();
  expect((await sql("FROM 'endless.db/v'")).text).toContain("Name one of 'endless.db/t'");
});

/** A small workbook whose one sheet unpacks to this many copies of a row. */
async function bomb(row: string, copies: number): Promise<Uint8Array> {
  const folder = join(scene.home, "bomb");
  const program = `
import sys, zipfile
source, target, row, copies = sys.argv[1:]
with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
    for item in old.infolist():
        if item.filename != "xl/worksheets/sheet1.xml":
            new.writestr(item, old.read(item))
    with new.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
        sheet.write(b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>')
        block = row.encode() * 1000
        for _ in range(int(copies) // 1000):
            sheet.write(block)
        sheet.write(b"</sheetData></worksheet>")
`;
  await Bun.write(join(folder, "plain.xlsx"), await writeXlsx({ sheets: [{ name: "S", rows: [["a"]] }] }));
  const files = [join(folder, "plain.xlsx"), join(folder, "bomb.xlsx")];
  const child = Bun.spawn(["python3", "-c", program, ...files, row, String(copies)], { stderr: "inherit" });
  expect(await child.exited).toBe(0);
  return Bun.file(join(folder, "bomb.xlsx")).bytes();
}

test("a hidden sheet is listed as such, by a query and where the workbook is described", async () => {
  const made = await writeXlsx({
    sheets: [
      { name: "Budget", rows: [["a"], [1]] },
      { name: "Corrections", rows: [["b"], [2]], hidden: true },
      { name: "Old", rows: [["c"], [3]], veryHidden: true },
    ],
  });
  await scene.write("hiding.xlsx", made);
  expect(await rowsOf("FROM 'hiding.xlsx/*'")).toEqual([
    "name | hidden",
    "VARCHAR | BOOLEAN",
    "Budget | false",
    "Corrections | true",
    "Old | true",
    "[3 rows]",
  ]);
  const { text } = await scene.call(describeData(scene), { path: "hiding.xlsx" });
  expect(text).toStartWith(
    "hiding.xlsx holds, as a query names them: 'hiding.xlsx/Budget', 'hiding.xlsx/Corrections' (hidden), 'hiding.xlsx/Old' (hidden)\n",
  );
});
