import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { readXlsx } from "hucre/xlsx";
import { AppError } from "../../core/errors.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import * as looking from "./write/look-at.ts";
import * as readingBack from "./write/read-back-word.ts";
import * as writing from "./write/write-word.ts";
import { writeDocument } from "./write-document.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());

const file = (path: string) => Bun.file(join(place.workspace.root, path));
const write = (asked: object, browser: looking.Printer = undefined, signal = new AbortController().signal) =>
  writeDocument({ browser }).call(
    { title: null, markdown: null, sheets: null, language: null, ...asked },
    contextForTest(place.workspace, { signal }),
  );
const sheet = (more: object) => ({ name: "S", rows: [["a"]], ...more });

test("a call writes the file it names, may be repeated, and brings nothing from outside", () => {
  const tool = writeDocument({ browser: undefined });
  const edits = typeof tool.edits === "function" ? tool.edits({ path: "a.pdf" }) : tool.edits;
  expect([tool.effect({}), tool.brings, edits]).toEqual(["idempotent", [], ["a.pdf"]]);
});

test.each([".docx", ".pdf", ".html"])("for %s there are no sheets, and there has to be a text", async (ending) => {
  for (const asked of [{}, { markdown: "x", sheets: [sheet({})] }]) {
    const path = `neither${ending}`;
    const { text, isError } = await write({ path, ...asked });
    expect([isError, text]).toEqual([
      true,
      expect.stringContaining(`For ${ending} give markdown; sheets are for .xlsx.`),
    ]);
    expect(await file(path).exists()).toBe(false);
  }
});

test.each<[object, string]>([
  [{ sheets: [sheet({}), sheet({ name: "s" })] }, "Two sheets have the same name."],
  [{ sheets: [sheet({ csv: "a.csv" })] }, 'The sheet "S" needs either rows or csv.'],
  [{ sheets: [sheet({})], markdown: "x" }, "For .xlsx give sheets; markdown is for the other formats."],
  [{ sheets: [{ name: "S", csv: "empty.csv" }] }, "empty.csv is empty."],
  [{ sheets: [{ name: "S", csv: "large.csv" }] }, "large.csv is larger than 50 MB."],
  [{ sheets: ["S", "T"].map((name) => ({ name, csv: "half.csv" })) }, "larger than 50 MB together."],
  [{ sheets: [sheet({ name: "a/b" })] }, "1 to 31 characters without"],
  [{ sheets: [sheet({ name: "x".repeat(32) })] }, "1 to 31 characters without"],
])("a workbook of %j is refused", async (asked, problem) => {
  await Bun.write(file("empty.csv"), "");
  await Bun.write(file("large.csv"), "a");
  await truncate(join(place.workspace.root, "large.csv"), 50 * 2 ** 20 + 1);
  await Bun.write(file("half.csv"), "a");
  await truncate(join(place.workspace.root, "half.csv"), 25 * 2 ** 20 + 1);
  const { text, isError } = await write({ path: "refused.xlsx", ...asked });
  expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(problem) });
  expect(await file("refused.xlsx").exists()).toBe(false);
});

test("of a CSV file only what is plainly a number is one, and nothing is a formula", async () => {
  const values = ["0", "-0.5", "12", "123456789012345", "1234567890123456", "007", "1e5", "+1", "1,5", ".5", "5.", ""];
  await Bun.write(file("in.csv"), `n,f\n${values.map((value) => `"${value}",=A1\n`).join("")}`);
  const { text } = await write({ path: "n.XLSX", sheets: [{ name: "S", csv: "in.csv" }] });
  expect(text).toBe(
    'Written and read back: n.XLSX, "S" (13 rows, 0 formulas). Texts, not numbers or dates: S!A10. How it looks was not checked: there is no browser here that draws it.',
  );
  const { sheets } = await readXlsx(await file("n.XLSX").bytes());
  expect(sheets[0]?.rows.slice(1).map(([value]) => value ?? null)).toEqual([
    ...[0, -0.5, 12, 123456789012345],
    ...["1234567890123456", "007", "1e5", "+1", "1,5", ".5", "5.", null],
  ]);
  expect(sheets[0]?.rows[1]?.[1]).toBe("=A1");
});

test("a chart of a file's cells is written with them; of an unknown kind it is refused with those there are", async () => {
  await Bun.write(file("sales.csv"), "Month,EUR\nJan,12.50 €\nFeb,9.00 €\n");
  const charted = (kind: string) =>
    write({
      path: "charted.xlsx",
      sheets: [{ name: "S", csv: "sales.csv", charts: [{ kind, title: "Sales", x: "A2:A3", y: "B2:B3" }] }],
    });
  const refused = await charted("radar");
  expect([refused.isError, refused.text]).toEqual([
    true,
    expect.stringContaining(
      "A workbook has column, bar, line, pie and scatter charts; vega-lite in .docx, .pdf or .html draws others.",
    ),
  ]);
  expect(await file("charted.xlsx").exists()).toBe(false);
  const { text, isError } = await charted("line");
  expect({ isError, text }).toEqual({
    isError: false,
    text: expect.stringContaining('(3 rows, 0 formulas; of its texts became 2 numbers; line chart "Sales" of B2:B3).'),
  });
  const [sheet] = (await readXlsx(await file("charted.xlsx").bytes())).sheets;
  expect(sheet?.charts).toMatchObject([
    {
      kinds: ["line"],
      title: "Sales",
      series: [{ name: "EUR", categoriesRef: "'S'!$A$2:$A$3", valuesRef: "'S'!$B$2:$B$3" }],
    },
  ]);
});

test("what was seen of a workbook counts as taken in only where its cells are from a file", async () => {
  await Bun.write(file("b.csv"), "a\n1\n");
  const seen = { about: "PDF", images: [{ type: "image", mediaType: "image/png", data: "x" }], told: "Seen." } as const;
  using spy = spyOn(looking, "lookAtPage").mockResolvedValue(seen);
  const csv = { name: "C", csv: "b.csv" };
  const takenIn = async (...sheets: readonly object[]) => (await write({ path: "t.xlsx", sheets })).takenIn;
  expect([await takenIn(sheet({})), await takenIn(csv), await takenIn(sheet({}), csv)]).toEqual([
    undefined,
    ["file"],
    ["file"],
  ]);
  spy.mockResolvedValue({ ...seen, images: [] });
  expect(await takenIn(csv)).toBeUndefined();
});

test("a Word document is written once it could be read back, with its title, in the task's time", async () => {
  using written = spyOn(writing, "writeWord").mockResolvedValue(Buffer.from("word"));
  using read = spyOn(readingBack, "readBackWord").mockResolvedValue({ told: "1 heading", page: "<p>" });
  const { signal } = new AbortController();
  const asked = { path: "a.DOCX", title: "T", markdown: "**x**" };
  expect((await write(asked, undefined, signal)).text).toBe(
    "Written and read back: a.DOCX, 1 heading. How it looks was not checked: there is no browser here that draws it.",
  );
  const html = "<h1>T</h1>\n<p><strong>x</strong></p>\n";
  expect(written.mock.calls.map(([request]) => request)).toEqual([{ html, title: "T" }]);
  expect(read.mock.calls.map(([of, content]) => [of, content])).toEqual([[html, Buffer.from("word")]]);
  expect([written.mock.calls[0]?.[1] === signal, read.mock.calls[0]?.[2] === signal]).toEqual([true, true]);
  expect(await file("a.DOCX").text()).toBe("word");
  read.mockRejectedValue(new AppError("internal", "Only half."));
  expect(await write({ ...asked, path: "b.docx" })).toEqual({ isError: true, text: "Only half." });
  expect(await file("b.docx").exists()).toBe(false);
});

test("a web page is in its language, and told by what it is when printed", async () => {
  const look = { about: "PDF, 2 pages", images: [], told: "Seen." };
  using spy = spyOn(looking, "lookAtPage").mockResolvedValue(look);
  expect((await write({ path: "a.Html", markdown: "x", language: "de" })).text).toBe(
    "Written: a.Html (HTML, printed PDF, 2 pages). Seen.",
  );
  expect(await file("a.Html").text()).toContain('<html lang="de">');
  expect(spy.mock.calls[0]?.[1]).toBe("as printed");
  await write({ path: "b.html", markdown: "x" });
  expect(await file("b.html").text()).toContain('<html lang="en">');
});

test("a PDF is what the browser printed of the page, in the task's time, and looked at as it was written", async () => {
  const look = { about: "PDF, 1 page", images: [], told: "Seen." };
  using spy = spyOn(looking, "lookAtPdf").mockResolvedValue(look);
  const { signal } = new AbortController();
  const asked: unknown[] = [];
  const browser: looking.Printer = {
    async print(html, options) {
      asked.push([html.includes("<p>x</p>"), options.timeoutMs, options.signal === signal]);
      return Buffer.from("pdf");
    },
  };
  expect((await write({ path: "a.PDF", markdown: "x" }, browser, signal)).text).toBe(
    "Written: a.PDF (PDF, 1 page). Seen.",
  );
  expect([asked, await file("a.PDF").text()]).toEqual([[[true, 60_000, true]], "pdf"]);
  expect(spy.mock.calls[0]?.slice(0, 2)).toEqual([Buffer.from("pdf"), "as printed"]);
  spy.mockResolvedValue({ ...look, about: undefined } as never);
  expect((await write({ path: "a.pdf", markdown: "x" }, browser)).text).toBe("Written: a.pdf (PDF). Seen.");
});

test("of a file of somebody else's it is told that nothing is kept, of its own not", async () => {
  const lost = " It replaced the file that was there, of which nothing is kept.";
  const tool = writeDocument({ browser: undefined });
  const asked = { path: "offer.html", markdown: "new", title: null, sheets: null, language: null };
  const written = async () => (await tool.call(asked, contextForTest(place.workspace))).text;
  await Bun.write(file("offer.html"), "old");
  expect(await written()).toEndWith(lost);
  expect(await written()).not.toContain(lost);
  await Bun.write(file("empty.html"), "");
  expect((await tool.call({ ...asked, path: "empty.html" }, contextForTest(place.workspace))).text).not.toContain(lost);
});
