import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DataScene, dataScene } from "../../../testing/data/data.ts";

let scene: DataScene;
const old = (text: string) => Buffer.from(text, "latin1");
beforeAll(async () => {
  scene = await dataScene();
  await scene.write("old/jan.csv", old("Ort;Wert\nKöln;1,5\n"));
  await scene.write("old/feb.csv", "Ort;Wert\nUlm;2,5\n");
  for (const month of ["jan", "feb", "mar"])
    await scene.write(
      `bank/${month}.csv`,
      `Konto 1;;\nSeite;;\nTag;Wer;Betrag\n3.1.2026;${month};1.001,5\n4.1.2026;x;2,75\n`,
    );
  await scene.write("plain/a.csv", "n,m\n1,2\n");
  await scene.write("plain/b.csv", "n,m\n3,4\n");
  await scene.write("logs/a.jsonl", old('{"n": "Köln"}\n'));
  await scene.write("logs/b.jsonl", '{"n": "Ulm"}\n');
});
afterAll(() => scene[Symbol.asyncDispose]());

const query = (sql: string) => scene.databases.query(scene.workspace, sql, { signal: AbortSignal.timeout(60_000) });

test.each<[string, readonly (readonly unknown[])[]]>([
  [
    "SELECT Ort, Wert FROM 'old/*.csv' ORDER BY Wert",
    [
      ["Köln", 1.5],
      ["Ulm", 2.5],
    ],
  ],
  ["SELECT Ort FROM read_csv('old/*.csv', delim = ';') ORDER BY 1", [["Köln"], ["Ulm"]]],
  ["SELECT Ort FROM read_csv(['old/j*.csv', 'old/feb.csv'], delim = ';') ORDER BY 1", [["Köln"], ["Ulm"]]],
  [
    "SELECT filename, Ort FROM 'old/*.csv' ORDER BY 1",
    [
      ["old/feb.csv", "Ulm"],
      ["old/jan.csv", "Köln"],
    ],
  ],
  ["SELECT t.n FROM 'logs/*.jsonl' AS t ORDER BY 1", [["Köln"], ["Ulm"]]],
  ["SELECT sum(Betrag) FROM 'bank/*.csv'", [[3012.75]]],
  ["SELECT column_name, count FROM (SUMMARIZE 'bank/*.csv') WHERE column_name = 'Betrag'", [["Betrag", "6"]]],
  ["SELECT count(DISTINCT filename) FROM 'bank/*.csv'", [["3"]]],
  [
    "SELECT filename, n FROM 'plain/*.csv' ORDER BY n",
    [
      ["plain/a.csv", "1"],
      ["plain/b.csv", "3"],
    ],
  ],
])("the files of a pattern are each the table that they are alone: %s", async (sql, rows) => {
  const cells = (await query(sql)).rows.map((row): unknown[] => row);
  expect(cells.map((row) => row.map((cell) => (typeof cell === "string" ? cell.replace(/^\.\//, "") : cell)))).toEqual(
    rows.map((row) => [...row]),
  );
});

test("what holds for many files is said once, and a copy is no file of a pattern", async () => {
  expect((await query("FROM 'bank/*.csv'")).notes).toEqual([
    expect.stringMatching(/^bank\/\w+\.csv \(and 2 others\): 2 lines stand above the table and are left out; /),
    expect.stringMatching(/^bank\/\w+\.csv \(and 2 others\): numbers are read with decimal commas/),
  ]);
  await query("FROM 'old/jan.csv'");
  expect((await query("SELECT count(*) FROM '**/jan.csv'")).rows).toEqual([["3"]]);
});
