import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DataScene, dataScene } from "../../testing/data/data.ts";
import { describeData } from "./describe-data.ts";
import { sqlQuery } from "./sql-query.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const describe = (path: string) => scene.call(describeData(scene), { path });

test("a CSV file is described by rows, types, missing values, ranges and first rows", async () => {
  await scene.write("a b.csv", "day,n,note\n2024-01-01,0,x\n2024-01-02,4,\n");
  const { text } = await describe("a b.csv");
  expect(text).toContain("a b.csv: 2 rows, 3 columns");
  expect(text).toContain("day | DATE | 0.00 % | 2 | 2024-01-01 | 2024-01-02");
  expect(text).toContain("n | BIGINT | 0.00 % | 2 | 0 | 4 | 2.0");
  expect(text).toContain("note | VARCHAR | 50.00 %");
  expect(text).toContain("2024-01-02 | 4 | NULL");
});

test("values that are perhaps in another unit than the others are told", async () => {
  const visitors = [9090, 8280, 3150, 9580, 8800, 12400, 14.29, 25640, 15.11, 26440, 4160, 6390, 12900];
  await scene.write("visitors.csv", `month,visitors\n${visitors.map((count, at) => `m${at},${count}`).join("\n")}\n`);
  expect((await describe("visitors.csv")).text).toContain(
    "visitors: 2 values of at most 15.11, no other positive one below 390.8: perhaps in another unit",
  );
});

test("codes that are written in more ways than one are told, as a join would not match them", async () => {
  const rows = ["INV0001", "inv 0002", "INV0003", "INV-10004", "CRN0001"];
  await scene.write("paid.csv", `payment_no,invoice_no\n${rows.map((code, at) => `P${at},${code}`).join("\n")}\n`);
  const { text } = await describe("paid.csv");
  expect(text).toContain(
    "invoice_no: codes that are written in 4 ways, such as 'CRN0001' and 'inv 0002': write them one way before a join",
  );
  expect(text).not.toContain("payment_no: codes");
});

test.each([
  ["ref", ["ord1", "ORD 00002", "ord-00003"], true],
  ["orderId", ["ord1", "ORD 00002", "ord-00003"], true],
  ["SKU", ["A-1", "a2", "A3"], true],
  ["paid", ["ord1", "ORD 00002", "ord-00003"], false],
])("codes written in several ways are looked for in a column called %s", async (name, codes, told) => {
  await scene.write("codes.json", JSON.stringify(codes.map((code, n) => ({ [name]: code, n }))));
  const { text } = await describe("codes.json");
  expect(text.includes("codes that are written in")).toBe(told);
});

test("a number that comes back in rows that differ is told where most rows have one of their own", async () => {
  const rows = Array.from({ length: 40 }, (_, n) => `O${n + 1},${n}`);
  const again = rows.slice(0, 9).map((row, n) => (n < 4 ? row : `${row}5`));
  await scene.write("orders.csv", `order_id,eur\n${[...rows, ...again].join("\n")}\n`);
  const { text } = await describe("orders.csv");
  expect(text).toContain("4 rows that came before, the same in every column");
  expect(text).toContain("order_id: 5 values that came before, in a row that differs otherwise");
});

test.each([
  ["without seconds", ["2026-03-25T01:06-04:00", "2026-03-25T01:06Z", "2026-03-25T23:30+02:00"], 3],
  ["with a blank before the offset", ["2026-03-25 01:06:00 +0200", "2026-03-25 01:06:01 +0100"], 2],
  ["of two forms", ["2026-03-25T01:06:00-04:00", "2026-03-25T01:06Z"], 2],
  ["as a cast reads them", ["2026-03-25T01:06:00-04:00", "2026-03-25T01:06:01.5Z"], 2],
] as const)("times with offsets from UTC %s are told with what makes days of them", async (_, times, zones) => {
  await scene.write("times.json", JSON.stringify(times.map((at, n) => ({ "made at": at, n }))));
  const { text } = await describe("times.json");
  expect(text).toContain(`made at: times with ${zones} offsets from UTC, such as '`);
  const [, read] = /as (\(.*\)::DATE)/.exec(text) ?? [];
  const sql = `SELECT count(*), count(${read}), min(${read}) FROM 'times.json'`;
  const result = await scene.call(sqlQuery(scene), { sql });
  expect(result.text).toContain(`${times.length} | ${times.length} | 2026-03-25`);
});

test.each(["moved.json", "moved.jsonl"])(
  "times of %s that are read as UTC are told with what makes days of them",
  async (file) => {
    const rows = ["2026-03-25T01:06:00+02:00", "2026-03-25T01:30:00+02:00"].map((at) =>
      JSON.stringify({ "made at": at }),
    );
    await scene.write(file, file.endsWith("l") ? rows.join("\n") : `[${rows.join(",")}]`);
    const { text } = await describe(file);
    expect(text).toContain("made at | TIMESTAMP | 0.00 % | 2 | 2026-03-24 23:06:00");
    expect(text).toContain(
      "- made at: read in UTC, though the file has it with an offset, as '2026-03-25T01:30:00+02:00'",
    );
    const [, day] = /is (\(.*\)::DATE)/.exec(text) ?? [];
    expect((await scene.call(sqlQuery(scene), { sql: `SELECT min(${day}) FROM '${file}'` })).text).toContain(
      "2026-03-25",
    );
  },
);

test("times in UTC are read as they are", async () => {
  await scene.write("utc.json", JSON.stringify([{ at: "2026-03-25T01:06:00Z", to: "2026-03-25T01:06:00+00:00" }]));
  expect((await describe("utc.json")).text).toContain("Nothing odd was found.");
});

test("dates and times without an offset have none", async () => {
  await scene.write("plain.json", JSON.stringify([{ at: "2026-03-25T01:06" }, { at: "2026-03-25T23:30" }]));
  await scene.write("days.csv", "at\n2026-03-25x\n2026-03-26\n2026-03-27\n");
  for (const file of ["plain.json", "days.csv"]) expect((await describe(file)).text).not.toContain("offset");
});

test("a text with few values has them listed with how often each is there, of a file that ends in .txt too", async () => {
  const groups = ["mint", "mint", "Mint", "ctrl", "control", "control", "control", null];
  const lines = [...groups, ...groups].map((group, at) => `${at},${group ?? ""},name ${at}\n`);
  await scene.write("trial.txt", `n,group,name\n${lines.join("")}`);
  const { text } = await describe("trial.txt");
  expect(text).toContain("trial.txt: 16 rows, 3 columns");
  expect(text).toContain("\nValues of group: 'control' 6, 'mint' 4, 'Mint' 2, 'ctrl' 2\n");
  expect(text).not.toContain("Values of name");
});

test("values are listed of texts of up to twelve, and of eight such columns", async () => {
  const names = ["thirteen", ...Array.from({ length: 9 }, (_, at) => `twelve${at}`)];
  const rows = Array.from({ length: 39 }, (_, row) => names.map((_, at) => `v${row % (at === 0 ? 13 : 12)}`).join());
  await scene.write("kinds.csv", `${names.join()}\n${rows.join("\n")}\n`);
  const { text } = await describe("kinds.csv");
  const listed = [...text.matchAll(/^Values of (\w+)/gm)].map(([, name = ""]) => name);
  expect(listed).toEqual(names.slice(1, 9));
});

test("distinct values are counted unless there are very many rows", async () => {
  await scene.write("cities.csv", "inhabitants\n449000\n489000\n408000\n");
  const { text } = await describe("cities.csv");
  expect(text).toContain("| distinct | least");
  expect(text).toContain("inhabitants | BIGINT | 0.00 % | 3 | 408000 | 489000 | ");
});

test("a large CSV file is read four times, once only for its first rows, and never row after row", async () => {
  const signal = AbortSignal.timeout(60_000);
  const make =
    "COPY (SELECT i, 'name ' || (i % 9) AS name, random() AS x, repeat('y', 60) AS y FROM range(400000) t(i)) TO 'big.csv'";
  await scene.databases.query(scene.workspace, make, { signal });
  const asked: string[] = [];
  const databases: DataScene["databases"] = {
    ...scene.databases,
    query(workspace, sql, options) {
      asked.push(sql);
      return scene.databases.query(workspace, sql, options);
    },
  };
  const { text } = await scene.call(describeData({ databases }), { path: "big.csv" });
  expect(text).toContain("big.csv: 400000 rows, 4 columns");
  // Its form is told by a sample.
  const reads = asked.filter((sql) => !sql.includes("sniff_csv"));
  expect(reads.map((sql) => sql.split("'big.csv'").length - 1)).toEqual([1, 1, 1, 1]);
  expect(asked.filter((sql) => sql.endsWith("LIMIT 5"))).toHaveLength(1);
  // A window over the rows keeps them from being read in parallel.
  expect(asked.filter((sql) => sql.includes("OVER"))).toEqual([]);
});

test("a line of a million columns is refused with a clear error, first or later", async () => {
  const line = Array.from({ length: 1_000_000 }, (_, at) => `c${at}`).join(",");
  await scene.write("wide.csv", `${line}\n`);
  await scene.write("later.csv", `a,b\n1,2\n${line}\n`);
  const [first, later] = [await describe("wide.csv"), await describe("later.csv")];
  expect(first).toEqual({
    text: "The first line of wide.csv is longer than 1 MB: this is not a table that can be read.",
    isError: true,
  });
  expect(later).toEqual({
    text: "A line of later.csv is longer than 2 MB: this is not a table that can be read.",
    isError: true,
  });
});

test("a small file that unpacks to one huge line is stopped by the limits", async () => {
  await scene.write("bomb.csv.gz", Bun.gzipSync(Buffer.alloc(10_000_000, "a")));
  const { text, isError } = await describe("bomb.csv.gz");
  expect(isError).toBe(true);
  expect(text.length).toBeLessThan(5_000);
});

test("a file that is not a table, is empty, missing or outside is reported as such", async () => {
  await scene.write("x.pdf", "%PDF");
  await scene.write("x.xlsx", "PK");
  await scene.write("empty.csv", "");
  expect((await describe("x.pdf")).text).toStartWith("x.pdf is not CSV, TSV, Parquet, JSON, Excel");
  expect((await describe("x.xlsx")).text).toStartWith("x.xlsx could not be read: ");
  expect((await describe("empty.csv")).text).toBe("empty.csv is empty.");
  expect((await describe("none.csv")).text).toBe("The path none.csv does not exist.");
  expect((await describe("../../x.csv")).text).toContain("outside the workspace");
});

/** The oddities of a CSV file with these lines. */
async function odd(...lines: readonly string[]): Promise<string[]> {
  await scene.write("odd.csv", `${lines.join("\n")}\n`);
  const { text } = await describe("odd.csv");
  return (/^Odd:\n((?:- .*\n)+)/m.exec(text)?.[1] ?? "").split("\n").flatMap((line) => line.replace(/^- /, "") || []);
}

test("tidy data has no oddities", async () => {
  const lines = Array.from(
    { length: 40 },
    (_, at) => `2024-01-${String((at % 28) + 1).padStart(2, "0")},${at},name ${at}`,
  );
  expect(await odd("day,n,name", ...lines.slice(0, 28))).toEqual([]);
  expect((await describe("odd.csv")).text).toContain("Nothing odd was found.");
});

test("impossible, unreadable, mixed-format or unordered dates are reported, with an example", async () => {
  const days = Array.from({ length: 20 }, (_, at) => `2024-03-${String(at + 1).padStart(2, "0")}`);
  expect(await odd("day,n", ...days.map((day, at) => `${at === 5 ? "2024-02-30" : day},${at}`))).toEqual([
    "day: 1 date that cannot be, such as '2024-02-30'",
  ]);
  expect(await odd("day,n", ...days.map((day, at) => `${at === 5 ? "soon" : day},${at}`))).toEqual([
    "day: 1 value among dates that cannot be read as one, such as 'soon'",
  ]);
  const mixed = days.map((day, at) => `${at % 2 === 0 ? day : `${at + 1}/03/2024`},${at}`);
  expect((await odd("day,n", ...mixed))[0]).toContain("dates in more than one form");
  const swapped = [...days.slice(0, 10), days[4], ...days.slice(10)];
  expect(await odd("day,n", ...swapped.map((day, at) => `${day},${at}`))).toEqual([
    "day: 1 row out of order: earlier than the row before, such as 2024-03-05",
  ]);
  expect((await odd("day,n", ...days.map((day, at) => `${at === 3 ? "1024-03-04" : day},${at}`)))[0]).toContain(
    "1 date before 1900 or after 2100, such as 1024-03-04",
  );
});

test("a date is one in each of its forms, a hard blank is a blank, and values are listed that are there more than twice", async () => {
  const days =
    "2024-03-31 2024/03/31 2024.03.31 31.03.2024 31/03/2024 12/31/2024 31-03-2024 12-31-2024 2024-03-30".split(" ");
  const rows = days.map(
    (day, at) => `${day},${at === 0 ? "\u00a0a" : "bcd"[at % 3]},${"klmn"[at % 4]},${"opqrs"[at % 5]}`,
  );
  await scene.write("forms.csv", `day,note,four,five\n${rows.join("\n")}\n`);
  const { text } = await describe("forms.csv");
  expect(text).toContain("- day: dates in more than one form (check which is day and which is month)");
  expect(text).toContain("- note: 1 value with blanks before or after, such as '\u00a0a'");
  expect(text).toContain("Values of four: 'k' 3, 'l' 2, 'm' 2, 'n' 2");
  expect(text).not.toContain("Values of five");
});

/** Names that differ by more than their digits. */
const letters = (count: number) =>
  Array.from({ length: count }, (_, at) => `c${String.fromCharCode(97 + Math.floor(at / 26), 97 + (at % 26))}`);

test("of a hundred columns all are described, of one more it is said that it is not", async () => {
  const wide = async (count: number) => {
    const ones = Array.from({ length: count }, () => 1);
    await scene.write("columns.csv", `${letters(count).join(",")}\n${ones.join(",")}\n`);
    return (await describe("columns.csv")).text;
  };
  expect(await wide(100)).not.toContain("not described");
  const text = await wide(101);
  expect(text).toContain("1 row, 101 columns");
  expect(text).toContain("… 1 more column, not described; ask for them with sql_query: SUMMARIZE SELECT …");
});

test("of many columns that are alike but for a number in their names one line tells, and each other has its own", async () => {
  const names = Array.from({ length: 180 }, (_, at) => `q${at + 1}`);
  const line = (row: number) => names.map((_, at) => (at === 150 ? 9 : ((row + at) % 5) + 1)).join(",");
  await scene.write(
    "survey.csv",
    `${names.join(",")}\n${Array.from({ length: 20 }, (_, row) => line(row)).join("\n")}\n`,
  );
  const { text } = await describe("survey.csv");
  expect(text).toContain("q1 … q150 (150 columns) | BIGINT | 0.00 % | 5 | 1 | 5 | 3.0\n");
  expect(text).toContain("q151 | BIGINT | 0.00 % | 1 | 9 | 9 | 9.0\nq152 … q180 (29 columns) |");
  expect(text).not.toContain("not described");
});

test("what is odd is found in a late column of a wide file too, and of columns not looked at it is said", async () => {
  const late = async (count: number, last: string) => {
    const line = (row: number) => letters(count).map((_, at) => (at === count - 1 && row === 3 ? last : row));
    const lines = Array.from({ length: 5 }, (_, row) => line(row).join(","));
    await scene.write("late.csv", `${letters(count).join(",")}\n${lines.join("\n")}\n`);
    return (await describe("late.csv")).text;
  };
  expect(await late(50, "none")).toContain(`- ${letters(50).at(-1)}: numbers kept as text`);
  expect(await late(201, "3")).toContain("- 1 column was not looked at");
});

test("duplicate rows and duplicate keys are reported", async () => {
  const rows = Array.from({ length: 30 }, (_, at) => `${at},${at * 2}`);
  expect(await odd("order_id,n", ...rows, "3,6", "4,99")).toEqual([
    "1 row that came before, the same in every column",
    "order_id: 1 value that came before, in a row that differs otherwise",
  ]);
  // Named like a key, and none.
  const each = Array.from({ length: 30 }, (_, at) => `${at % 5},${at * 2}`);
  expect(await odd("customer_id,n", ...each)).toEqual([]);
});

test("numbers stored as text, mixed types, blanks, placeholders and spelling variants are reported", async () => {
  const rows = Array.from({ length: 20 }, (_, at) => at);
  expect(await odd("price,k", ...rows.map((at) => `"${at === 3 ? "n/a" : `1,${100 + at}`}",${at}`))).toEqual([
    "price: numbers kept as text: 19 of 20 are numbers, the rest is not, such as 'n/a'; 19 of the numbers need cleaning before a cast, such as '1,100'",
    "price: 1 stand-in for a missing value, such as 'n/a'",
  ]);
  expect((await odd("cost,k", ...rows.map((at) => `${at}.5${at === 4 ? " €" : ""},${at}`)))[0]).toBe(
    "cost: all values are numbers kept as text (0.5 to 19.5), such as '0.5'; 1 of the numbers need cleaning before a cast, such as '4.5 €'",
  );
  expect((await odd("x,k", ...rows.map((at) => `${at % 2 ? "abc" : at},${at}`)))[0]).toBe(
    "x: mixed types: 10 numbers such as '0' among 10 texts such as 'abc'",
  );
  expect(await odd("city,k", ...rows.map((at) => `${["Berlin", "Berlin ", "berlin", "Rome"][at % 4]},${at}`))).toEqual([
    "city: 5 values with blanks before or after, such as 'Berlin '; 2 spellings that only case or blanks tell from another",
  ]);
});

test("for numbers stored as text the numeric range is given, because alphabetical order hides a total and a reversal", async () => {
  const rows = Array.from(
    { length: 40 },
    (_, at) => `${at === 7 ? "-31" : at === 9 ? "979069.18" : at === 11 ? "n/a" : 100 + at},${at}`,
  );
  expect((await odd("revenue,k", ...rows))[0]).toBe(
    "revenue: numbers kept as text: 39 of 40 are numbers (-31 to 979069.18), the rest is not, such as 'n/a'",
  );
});

test("a mean has only its significant digits", async () => {
  await scene.write("means.csv", "a,b\n0.1,1\n0.2,1\n0.7,2\n");
  const { text } = await describe("means.csv");
  expect(text).toContain("| 0.1 | 0.7 | 0.333333\n");
  expect(text).toContain("| 1 | 2 | 1.33333\n");
});

test("columns of lists are described as they are, and compared with no number", async () => {
  await scene.write(
    "lists.json",
    JSON.stringify([1, 2, 3].map((n) => ({ n, tags: [n, -n], sizes: [n / 2], days: [`2024-01-0${n}`] }))),
  );
  const { text, isError } = await describe("lists.json");
  expect([isError, text]).toEqual([false, expect.stringContaining("lists.json: 3 rows, 4 columns")]);
  expect(text).toMatch(/^tags \| HUGEINT\[\] \|/m);
  expect(text).toContain("Nothing odd was found.");
});

test("a column with NaN or infinite values is described by the others, and they are counted", async () => {
  const rows = Array.from({ length: 20 }, (_, at) => `${at === 3 ? "NaN" : at === 4 ? "inf" : `${at % 5}.5`},x${at}`);
  await scene.write("nan.csv", `n,k\n${rows.join("\n")}\n`);
  const { text } = await describe("nan.csv");
  expect(text).toContain("n | DOUBLE | 10.00 % | 5 | 0.5 | 4.5 | 2.33333\n");
  expect(text).toContain("- n: 2 values NaN or infinite, left out here");
  expect(text).not.toContain("outlier");
});

test("totals, gaps in time and dates in both orders are reported", async () => {
  const names = ["North", "South", "Subtotal: Europe", "East", "TOTAL", "Totally fine", "小计"];
  expect(await odd("region,n", ...names.map((name, at) => `${name},${at}`))).toEqual([
    "region: 3 rows may be the total of others, such as 'Subtotal: Europe': left in, they count twice",
  ]);
  const hours = Array.from({ length: 60 }, (_, at) => new Date(Date.UTC(2026, 0, 1, at < 30 ? at : at + 20)));
  expect(await odd("at,n", ...hours.map((hour, at) => `${hour.toISOString().slice(0, 19)},${at % 7}`))).toEqual([
    "at: a gap from 2026-01-02 05:00:00 to 2026-01-03 02:00:00, the longest: the usual step is 1 hour",
  ]);
  const days = ["01/05/2026", "13/05/2026", "05/14/2026", "05/15/2026"];
  await scene.write("days.json", JSON.stringify(days.map((day) => ({ day }))));
  expect((await describe("days.json")).text).toContain(
    "- day: days and months in both orders: 1 can only be day first, such as '13/05/2026', 2 only month first, such as '05/14/2026'\n",
  );
});

test("outliers and a few negative values are counted", async () => {
  const rows = Array.from({ length: 50 }, (_, at) => (at === 7 ? 9000 : at === 9 ? -3 : 100 + (at % 9)));
  expect(await odd("n,k", ...rows.map((n, at) => `${n},${at}`))).toEqual([
    expect.stringMatching(/^n: 2 outliers \(below .*\); 1 negative value, all others are not$/),
  ]);
});

test("a few negative values are not odd in a measure that may be negative", async () => {
  const winter = (name: string) => [
    `${name},k`,
    ...Array.from({ length: 80 }, (_, at) => `${at < 3 ? -2 - at : at % 9},${at}`),
  ];
  for (const name of ["min_temp", "Minimum (°C)", "tmin_c", "netProfit", "latitude"])
    expect({ name, odd: await odd(...(winter(name) as [string, ...string[]])) }).toEqual({ name, odd: [] });
  for (const name of ["planets", "quantity", "latency"])
    expect(await odd(...(winter(name) as [string, ...string[]]))).toEqual([
      `${name}: 3 negative values, all others are not`,
    ]);
});
