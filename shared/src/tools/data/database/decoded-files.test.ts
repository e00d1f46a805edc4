import { afterAll, beforeAll, expect, test } from "bun:test";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { type DataScene, dataScene } from "../../../testing/data/data.ts";
import { dataVisualization } from "../data-visualization.ts";
import { describeData } from "../describe-data.ts";
import { sqlQuery } from "../sql-query.ts";
import { statistics } from "../statistics.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
  await scene.write("bank.csv", statement(["Müller GmbH – „Hof“;1", "Café Größe;2", "Śmith \u20ac;3", "Jörg;4"]));
  await scene.write("also bank.csv", statement(["Zoë;5"]));
});
afterAll(() => scene[Symbol.asyncDispose]());

/** A file as German spreadsheets write it. */
function statement(lines: readonly string[]): Buffer {
  return western(`Empfänger;Betrag €\r\n${lines.join("\r\n")}\r\n`);
}

/** A text in Windows-1252. */
function western(text: string): Buffer {
  const beyond = new Map([..."€„“–Ś"].map((sign, at) => [sign, [0x80, 0x84, 0x93, 0x96, 0x8a][at] ?? 0]));
  return Buffer.from([...text].map((sign) => beyond.get(sign) ?? sign.charCodeAt(0)));
}

const utf16 = Buffer.from("\ufeffn\tm\r\nä\t1\r\n", "utf16le");
const packed = (bytes: Buffer) => Bun.gzipSync(new Uint8Array(bytes));
const query = async (sql: string) => {
  const { rows, notes } = await scene.databases.query(scene.workspace, sql, { signal: AbortSignal.timeout(60_000) });
  return { rows, notes };
};
const guessed = (file: string, as = "Windows-1252 (western European)") =>
  `${file} is not UTF-8: it is read as ${as}, judged by its letters (read_csv with encoding = '…' reads it as another).`;
const note = guessed("bank.csv");

test("a file in Windows-1252 is the same table to every data tool, and each says how it was read", async () => {
  const calls: [Parameters<DataScene["call"]>[0], unknown][] = [
    [describeData(scene), { path: "bank.csv" }],
    [sqlQuery(scene), { sql: "FROM 'bank.csv'" }],
    [statistics(scene), { test: "outliers", from: "bank.csv", y: ["Betrag €"], x: ["Empfänger"] }],
    [
      dataVisualization(scene),
      { charts: [{ csvFilePath: "bank.csv", chartTitle: "t" }], output_type: "html", tool_type: "visualization" },
    ],
  ];
  for (const [tool, input] of calls) {
    const { text, isError } = await scene.call(tool, input);
    expect([tool.name, isError ? text : ""]).toEqual([tool.name, ""]);
    expect(text).toContain("Betrag €");
    expect(text).toContain(`Note: ${note}`);
  }
  expect((await scene.call(describeData(scene), { path: "bank.csv" })).text).toContain("Müller GmbH – „Hof“ | 1");
});

test("a task is told once by its queries how a file is read", async () => {
  const tool = sqlQuery(scene);
  const { text: first } = await scene.call(tool, { sql: "SELECT 1 FROM 'bank.csv' LIMIT 1" });
  expect(first).toEndWith(`\n[1 row]\nNote: ${note}`);
  const { text: second } = await scene.call(tool, { sql: "SELECT 1 FROM 'bank.csv', 'also bank.csv' LIMIT 1" });
  expect(second).toEndWith(`\n[1 row]\nNote: ${guessed("also bank.csv")}`);
  const { text: third } = await scene.call(tool, { sql: "SELECT (SELECT count(*) FROM 'bank.csv')" });
  expect(third).toBe('(SELECT count_star() FROM "bank.csv")\nBIGINT\n4\n[1 row]');
});

test("a chart is drawn of a file that ends in .txt too", async () => {
  await scene.write("cities.txt", "city;inhabitants\nBonn;3\nKöln;10\n");
  const { text, isError } = await scene.call(dataVisualization(scene), {
    charts: [{ csvFilePath: "cities.txt", chartTitle: "t" }],
    ...{ output_type: "html", tool_type: "visualization" },
  });
  expect([isError, text]).toEqual([false, expect.stringContaining("x = city, y = inhabitants, 2 points")]);
});

test.each([
  ["FROM 'bank.csv'", 4],
  ['FROM "bank.csv"', 4],
  ["FROM read_csv('bank.csv', delim = ';')", 4],
  ["FROM read_csv('bank.csv', encoding = 'utf-8')", 4],
  ["FROM read_csv(['bank.csv', 'also bank.csv'])", 5],
  ["FROM 'bank.csv' a, 'also bank.csv' b WHERE a.\"Betrag €\" <> b.\"Betrag €\"", 4],
  ["SELECT bank.\"Empfänger\" FROM 'bank.csv' JOIN 'also bank.csv' ON true", 4],
  ["WITH t AS (SELECT * FROM 'bank.csv') FROM t UNION ALL FROM 'also bank.csv'", 5],
  ["SUMMARIZE 'bank.csv'", 2],
  ["CREATE OR REPLACE VIEW v AS FROM 'bank.csv'; FROM v", 4],
])("it is read wherever a statement names it: %s", async (sql, count) => {
  const { rows, notes } = await query(sql);
  expect([rows.length, notes.includes(note)]).toEqual([count, true]);
});

test("a text that is no file to read stays as it is", async () => {
  expect(await query("SELECT 'bank.csv' AS a, 'bank.csv' = 'x' AS b WHERE 'bank.csv' IN ('bank.csv')")).toEqual({
    rows: [["bank.csv", false]],
    notes: [],
  });
  const { rows } = await query("FROM 'bank.csv' SELECT 1 AS a, 'bank.csv' AS b LIMIT 1");
  expect(rows).toEqual([[1, "bank.csv"]]);
  await query("COPY (SELECT 1 AS one) TO 'target.csv'");
  await scene.write("target.csv", western("one\nä\n"));
  await query("COPY (SELECT 1 AS one) TO 'target.csv'");
  expect(await scene.read("target.csv")).toBe("one\n1\n");
});

test("a file is decoded anew once it has changed, and read as it is once it is UTF-8", async () => {
  const rewrite = async (bytes: Uint8Array | string, time: number) => {
    await scene.write("changing.csv", bytes);
    await utimes(join(scene.workspace.root, "changing.csv"), time, time);
    return query("SELECT a FROM 'changing.csv'");
  };
  expect((await rewrite(western("a;b\nä;1\n"), 1)).rows).toEqual([["ä"]]);
  expect((await rewrite(western("a;b\nö;1\n"), 2)).rows).toEqual([["ö"]]);
  expect(await rewrite("a;b\nü;1\n", 3)).toEqual({ rows: [["ü"]], notes: [] });
});

test.each<[string, Uint8Array, readonly unknown[], string]>([
  ["utf-16.csv", utf16, ["ä", "1"], "is read as UTF-16."],
  ["big-endian.csv", Buffer.from(utf16).swap16(), ["ä", "1"], "is read as UTF-16."],
  [
    "mixed.csv",
    Buffer.concat([Buffer.from("n;m\nÄöü;1\n"), western("ß;2\n")]),
    ["Äöü", "1"],
    "is not UTF-8 throughout: what is not stands as �.",
  ],
  [
    "one.jsonl",
    western('{"n": "\u20ac", "m": 1}\n'),
    ["\u20ac", "1"],
    "is not UTF-8: it is read as Windows-1252 (western European), judged by its letters.",
  ],
])("%s is read by what its bytes tell", async (name, bytes, row, told) => {
  await scene.write(name, bytes);
  const { rows, notes } = await query(`SELECT n, m FROM '${name}'`);
  expect({ rows, notes }).toEqual({ rows: expect.arrayContaining([row]), notes: [`${name} ${told}`] });
});

test.each<[string, Uint8Array, string]>([
  ["bank.csv.gz", packed(western("n;m\nä;1\n")), guessed("bank.csv.gz")],
  ["bank.tsv.zst", Bun.zstdCompressSync(western("n\tm\nä\t1\n")), guessed("bank.tsv.zst")],
  ["wide.csv.gz", packed(utf16), "wide.csv.gz is read as UTF-16."],
  [
    "bank.json.gz",
    packed(western('[{"n": "ä", "m": 1}]')),
    "bank.json.gz is not UTF-8: it is read as Windows-1252 (western European), judged by its letters.",
  ],
])("a packed file is decoded too: %s", async (file, bytes, told) => {
  await scene.write(file, bytes);
  const { rows, notes } = await query(`SELECT n, m FROM '${file}'`);
  expect({ rows, notes }).toEqual({ rows: [["ä", "1"]], notes: [told] });
  expect((await scene.call(describeData(scene), { path: file })).text).toContain(`Note: ${told}`);
});

test("a packed file in UTF-8 is read as it is, and a broken one is the database's to refuse", async () => {
  await scene.write("plain.csv.gz", packed(Buffer.from("n;m\nä;1\n")));
  expect(await query("SELECT n FROM 'plain.csv.gz'")).toEqual({ rows: [["ä"]], notes: [] });
  const whole = packed(western(`n;m\n${"ä;1\nxyz;23\n".repeat(5000)}`));
  await scene.write("broken.csv.gz", whole.subarray(0, whole.length / 2));
  await expect(query("FROM 'broken.csv.gz'")).rejects.toThrow("broken.csv.gz");
});

test.each<[string, string, string]>([
  ["Polish", "Micha\xb3 \x8cwi\xb9tek;\xa3\xf3d\x9f", "Michał Świątek;Łódź"],
  ["Czech", "Ji\xf8\xed \xc8ern\xfd;Plze\xf2", "Jiří Černý;Plzeň"],
  ["Hungarian", "Nagy Gerg\xf5 \xc9va;F\xfbzfa \xfat", "Nagy Gergő Éva;Fűzfa út"],
  ["Croatian", "Ana Kova\xe8evi\xe6;\xd0akovo", "Ana Kovačević;Đakovo"],
  ["Romanian", "\xaatefan R\xe3dulescu;Ia\xbai", "Ştefan Rădulescu;Iaşi"],
  ["German names beside", "J\xfcrgen M\xfcller;Pawe\xb3 Zieli\xf1ski", "Jürgen Müller;Paweł Zieliński"],
])("a file in Windows-1250 is read as such: %s", async (name, bytes, text) => {
  await scene.write(`${name}.csv`, Buffer.from(`n;m\n${bytes}\n`, "latin1"));
  const { rows, notes } = await query(`SELECT n || ';' || m FROM '${name}.csv'`);
  expect({ rows, notes }).toEqual({
    rows: [[text]],
    notes: [guessed(`${name}.csv`, "Windows-1250 (central European)")],
  });
});

test.each<[string, string, string, string]>([
  ["turkish.csv", "Ay\xfee Y\xfdlmaz;\xddstanbul", "Ayşe Yılmaz;İstanbul", "Windows-1254 (Turkish)"],
  ["latvian.csv", "J\xe2nis B\xe7rzi\xf2\xf0;R\xeega", "Jānis Bērziņš;Rīga", "Windows-1257 (Baltic)"],
  ["unix.csv", "Micha\xb3 \xa6wi\xb1tek;\xa3\xf3d\xbc", "Michał Świątek;Łódź", "ISO 8859-2 (central European)"],
  ["dutch.csv", "Zo\xeb;Cura\xe7ao", "Zoë;Curaçao", "Windows-1252 (western European)"],
  ["many.csv", "Jos\xe9 Nu\xf1ez;S\xf8ren Kj\xe6r", "José Nuñez;Søren Kjær", "Windows-1252 (western European)"],
  [
    "icelandic.csv",
    "Gu\xf0r\xfan \xde\xf3r;\xcdsafj\xf6r\xf0ur",
    "Guðrún Þór;Ísafjörður",
    "Windows-1252 (western European)",
  ],
  ["signs.csv", "Nm\xb3 in \xb5g;n.\xba 1\xaa", "Nm³ in µg;n.º 1ª", "Windows-1252 (western European)"],
])("the likeliest encoding is chosen: %s", async (file, bytes, text, as) => {
  await scene.write(file, Buffer.from(`n;m\n${bytes}\n`, "latin1"));
  const { rows, notes } = await query(`SELECT n || ';' || m FROM '${file}'`);
  expect({ rows, notes }).toEqual({ rows: [[text]], notes: [guessed(file, as)] });
});

test.each<[string, readonly number[], string]>([
  ["windows-1250", [0xb3], "ł"],
  ["latin-1", [0xb3], "³"],
  ["cp1252", [0xb3], "³"],
  ["CP-1251", [0xcc, 0xee, 0xf1, 0xea, 0xe2, 0xe0], "Москва"],
  ["gb18030", [0xc9, 0xcf, 0xba, 0xa3], "上海"],
  ["shift_jis", [0x83, 0x65, 0x83, 0x58, 0x83, 0x67], "テスト"],
])("an encoding that a statement names is believed: %s", async (encoding, word, text) => {
  await scene.write("named.csv", Buffer.from([...Buffer.from("a;b\n"), ...word, ...Buffer.from(";1\n")]));
  const { rows, notes } = await query(`SELECT a FROM read_csv('named.csv', encoding = '${encoding}')`);
  expect({ rows, notes }).toEqual({
    rows: [[text]],
    notes: [expect.stringMatching(/^named\.csv is read as [\w-]+\.$/)],
  });
});

test.each([
  ["Chinese", [0xc9, 0xcf, 0xba, 0xa3]],
  ["Russian", [0xcc, 0xee, 0xf1, 0xea, 0xe2, 0xe0]],
  ["Japanese", [0x83, 0x65, 0x83, 0x58, 0x83, 0x67]],
])("a file in an encoding for %s is not taken for a western one", async (_, word) => {
  await scene.write("far.csv", new Uint8Array([...Buffer.from("a,b\n"), ...word, ...Buffer.from(",1\n")]));
  await expect(query("FROM 'far.csv'")).rejects.toThrow("not utf-8 encoded");
});

test.each([
  ["ragged.csv", "ragged"],
  [`${"long/".repeat(20)}ragged.csv`, "long/long/"],
])("what the database says of such a file names it, also where the name is cut off: %s", async (name, shown) => {
  await scene.write(name, western("a;b\nä;1\n"));
  const { text } = await scene.call(sqlQuery(scene), { sql: `SELECT a, c FROM read_csv('${name}', delim = ';')` });
  expect(text).toContain(`read_csv('${shown}`);
  expect(text).not.toMatch(/\.manyhands|db-\d/);
});
