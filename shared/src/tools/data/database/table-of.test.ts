import { afterAll, beforeAll, expect, test } from "bun:test";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { tableOf } from "./table-of.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());

const file = (path: string) => join(place.workspace.root, path);
const table = async (path: string, content: string | Uint8Array = "a,b\n", at = path) => {
  await Bun.write(file(at), content);
  return await tableOf(place.workspace, path);
};

test.each([
  ["a.csv", "'a.csv'"],
  ["it's.TSV", "'it''s.TSV'"],
  ["sub/../a.json", "'a.json'"],
  ["a.jsonl", "'a.jsonl'"],
  ["a.ndjson", "'a.ndjson'"],
  ["a.parquet", "'a.parquet'"],
  ["a.csv.gz", "'a.csv.gz'"],
  ["a.json.zst", "'a.json.zst'"],
  ["a.txt", "'a.txt'"],
  ["A.TXT.gz", "'A.TXT.gz'"],
])("the file %s is the table %s", async (path, expected) => {
  expect(await table(path)).toMatchObject({ table: expected, bytes: 4, holder: undefined });
});

test.each([
  ["b.xlsx", "b.xlsx", "'b.xlsx'", "b.xlsx"],
  ["b.xlsm/Sheet 2", "b.xlsm", "'b.xlsm/Sheet 2'", "b.xlsm"],
  ["sub/s.db/it's", "sub/s.db", "'sub/s.db/it''s'", "sub/s.db"],
  ["./s.sqlite3/a/b", "s.sqlite3", "'s.sqlite3/a/b'", "s.sqlite3"],
])("%s is a part of the file %s", async (path, at, expected, holder) => {
  expect(await table(path, "four", at)).toMatchObject({ table: expected, bytes: 4, holder });
});

test.each(["a.pdf", "a.csv.bz2", "a.csvx", "csv", "a.xls"])("%s is no table", async (path) => {
  await expect(table(path)).rejects.toMatchObject({ code: "unsupported" });
});

test("an empty file is no table, and a first line of 1 MB is none either, where it would be one line", async () => {
  await expect(table("empty.csv", "")).rejects.toMatchObject({ code: "invalid_input", message: "empty.csv is empty." });
  await expect(table("empty.xlsx/S", "", "empty.xlsx")).rejects.toMatchObject({ message: "empty.xlsx/S is empty." });
  for (const name of ["long.csv", "long.jsonl", "long.txt"]) {
    await Bun.write(file(name), "a");
    await truncate(file(name), 2 ** 20);
    await expect(tableOf(place.workspace, name)).rejects.toMatchObject({ code: "too_large" });
    await truncate(file(name), 2 ** 20 - 1);
    expect((await tableOf(place.workspace, name)).bytes).toBe(2 ** 20 - 1);
  }
  const long = Buffer.alloc(2 ** 20 + 9, "a");
  for (const name of ["long.json", "long.parquet", "long.csv.gz"])
    expect((await table(name, long)).bytes).toBe(long.length);
  for (const end of [10, 13]) {
    long[2 ** 20 - 1] = end;
    expect((await table("ended.csv", long)).bytes).toBe(long.length);
  }
  long[2 ** 20 - 1] = 97;
  long[2 ** 20] = 10;
  await expect(table("ended.csv", long)).rejects.toMatchObject({ code: "too_large" });
});

test.each([
  ["\n", "c.csv"],
  ["\r\n", "c.tsv"],
  ["\r", "c.txt"],
])("lines of 2 MB between %j are rows, and one that is longer is refused, also behind others", async (end, name) => {
  const row = (bytes: number) => Buffer.alloc(bytes, "x").toString();
  const lines = ["a", row(2_000_000), "b", row(1_999_999), row(2_000_000)];
  const refusal = `A line of ${name} is longer than 2 MB: this is not a table that can be read.`;
  expect(await table(name, lines.join(end))).toMatchObject({ holder: undefined });
  expect(await table(name, lines.join(end) + end)).toMatchObject({ holder: undefined });
  await expect(table(name, [...lines, row(2_000_001)].join(end))).rejects.toThrow(refusal);
  await expect(table(name, ["a", row(2_000_001), "b"].join(end))).rejects.toThrow(refusal);
});

test("lines of JSON may be longer, since the database reads them otherwise", async () => {
  expect(await table("c.jsonl", `{}\n"${"x".repeat(2_000_001)}"\n`)).toMatchObject({ holder: undefined });
});
