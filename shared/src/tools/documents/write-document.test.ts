import { afterAll, beforeAll, expect, test } from "bun:test";
import { readXlsx } from "hucre/xlsx";
import { AppError } from "../../core/errors.ts";
import type { BrowserHost } from "../../machine/browser/browser.ts";
import type { BrowsersForTest } from "../../testing/browser/browsers.ts";
import { browsersForTest } from "../../testing/browser/browsers.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { zipContent } from "./read/zip-content.ts";
import { readDocument } from "./read-document.ts";
import { writeDocument } from "./write-document.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
let browsers: BrowsersForTest;
beforeAll(async () => {
  place = await workspaceForTest();
  browsers = await browsersForTest([]);
});
afterAll(async () => {
  await browsers[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

const file = (path: string) => Bun.file(`${place.workspace.root}/${path}`);
const write = (asked: object, browser: Pick<BrowserHost, "print"> | undefined = undefined, vision = true) =>
  writeDocument({ browser }).call(
    { title: null, markdown: null, sheets: null, language: null, ...asked },
    contextForTest(place.workspace, { vision }),
  );
/** The requests that were let through: the browser tries some of its own, which are refused. */
const passed = () => browsers.requests.filter(({ refused }) => refused === undefined);
/** The browser, and the text of the pages that it printed, with how many pictures they have. */
function printerForTest() {
  const printed: { html: string; text: string; pictures: number }[] = [];
  const browser: Pick<BrowserHost, "print"> = {
    async print(html, options) {
      const pdf = await browsers.browsers.print(html, options);
      await Bun.write(file("printed-here.pdf"), pdf);
      const pictures =
        Buffer.from(pdf)
          .toString("latin1")
          .match(/\/Subtype ?\/Image/g)?.length ?? 0;
      printed.push({ html, text: (await read("printed-here.pdf")).text, pictures });
      return pdf;
    },
  };
  return { browser, printed };
}
const read = (path: string) =>
  readDocument.call({ path, part: null, from: null, max_characters: null }, contextForTest(place.workspace));

const chart = JSON.stringify({
  title: "Sales",
  mark: "bar",
  encoding: { x: { field: "m", type: "nominal" }, y: { field: "v", type: "quantitative" } },
  data: {
    values: [
      { m: "Jan", v: 1 },
      { m: "Feb & <b>", v: 2 },
    ],
  },
});
const markdown = `Some **bold** words and a [link](https://a.example/).

## Numbers

| Item | EUR |
| --- | --: |
| Lamp | 12 |

1. one
   - inner

\`\`\`vega-lite
${chart}
\`\`\`

<script>alert(1)</script> [no](javascript:alert(1))
`;

test("a Word document has headings, table, list, link and chart of its Markdown, and no HTML of it", async () => {
  const { text, isError } = await write({ path: "out/report.docx", title: "Report", markdown });
  expect({ isError, text }).toEqual({
    isError: false,
    text: expect.stringMatching(/^Written and read back: out\/report\.docx, 2 headings, 1 table, 1 picture, \d+ /),
  });
  const back = (await read("out/report.docx")).text;
  for (const piece of [
    "# Report",
    "## Numbers",
    "**bold**",
    "(https://a.example/)",
    "| Lamp | 12 |",
    "1. one",
    "[picture: Sales]",
  ])
    expect(back).toContain(piece);
  expect(back).not.toContain("javascript:");
  // A heading stands on the page of what follows it.
  const word = await zipContent(await file("out/report.docx").bytes());
  expect((await word.text("word/document.xml"))?.match(/<w:keepNext\/>/g)).toHaveLength(2);
});

test("a PDF is printed from Markdown, seen by the model, and loads nothing", async () => {
  const { text, images } = await write({ path: "report.pdf", title: "Report", markdown }, browsers.browsers);
  expect(text).toBe("Written: report.pdf (PDF, 1 page). You see the first page as printed.");
  expect(images?.map(({ mediaType }) => mediaType)).toEqual(["image/jpeg"]);
  const back = (await read("report.pdf")).text;
  for (const piece of ["# Report", "bold words", "Lamp"]) expect(back).toContain(piece);
  expect(passed()).toEqual([]);
});

test("in a PDF a heading stands on the page of what follows it", async () => {
  const tall = `\n\n\`\`\`vega-lite\n${JSON.stringify({ ...JSON.parse(chart), height: 550 })}\n\`\`\`\n\n`;
  await write({ path: "tall.pdf", markdown: `${tall}## Second${tall}` }, browsers.browsers);
  expect((await read("tall.pdf")).text).toMatch(/page 1\](?:(?!Second)[\s\S])*page 2\][\s\S]*Second/);
});

const hostile = '<img src="http://evil.example/a.png"><script>fetch("http://evil.example/")</script>';

test("a Word document is seen as read back, with its chart; what is hostile in it is text and loads nothing", async () => {
  const { browser, printed } = printerForTest();
  const asked = { path: "seen.docx", title: "Report", markdown: `${markdown}\n\n${hostile}` };
  const { text, images } = await write(asked, browser);
  expect(text).toMatch(
    /^Written and read back: seen\.docx, 2 headings, 1 table, 1 picture, \d+ characters; printed here: PDF, (?:1 page\. You see the first page|2 pages, \d+ lines? on the second\. You see the first 2 pages) of its content as read back and printed here; alignment, styles, fonts, sizes and pages as Word makes them may differ\.$/,
  );
  expect(images?.[0]?.mediaType).toBe("image/jpeg");
  for (const piece of ["# Report", "Lamp", "<script>", "evil.example/a.png"]) expect(printed[0]?.text).toContain(piece);
  expect(printed[0]?.html).toMatch(/<th>(?:(?!<t[dh]>).)*Item.*<td>(?:(?!<t[dh]>).)*Lamp/);
  expect(printed[0]?.pictures).toBe(1);
  expect(passed()).toEqual([]);
});

test("what goes over one page by little is told in lines", async () => {
  const pages = async (lines: number) =>
    (await write({ path: "memo.pdf", markdown: "Words\n\n".repeat(lines) }, browsers.browsers)).text;
  expect(await pages(10)).toContain("memo.pdf (PDF, 1 page).");
  expect(await pages(45)).toMatch(/memo\.pdf \(PDF, 2 pages, \d+ lines? on the second\)\./);
});

test("of a workbook the first cells are seen in their formats, with what formulas give; what is hostile in it loads nothing", async () => {
  const { browser, printed } = printerForTest();
  await Bun.write(file("long.csv"), `n,text\n${Array.from({ length: 40 }, (_, at) => `${at},row ${at}\n`).join("")}`);
  const rows = [
    ["Item", "EUR"],
    ["Lamp", 1234.5],
    [hostile, null],
    ["Sum", "=SUM(B2:B2)"],
  ];
  const sheets = [
    { name: "Sums & <b>", rows, formats: { B: "#,##0.00" } },
    ...["Long", "C", "Unseen"].map((name) => ({ name, csv: "long.csv" })),
  ];
  const { text, images, takenIn } = await write({ path: "seen.xlsx", sheets }, browser);
  expect(text).toContain(
    "You see the first page of its cells as read back, as tables (at most 20 rows and 8 columns of the first 3 sheets; long cells are cut, charts not drawn)",
  );
  expect(images).toHaveLength(1);
  const shown = printed[0]?.text ?? "";
  for (const piece of ["Sums & <b>", "1,234.50", "| Sum | 1,234.50 |", "<img src=", "row 18"])
    expect(shown).toContain(piece);
  for (const piece of ["row 19", "Unseen"]) expect(shown).not.toContain(piece);
  expect(passed()).toEqual([]);
  // The cells of a CSV file may be anybody's.
  expect(takenIn).toEqual(["file"]);
});

test.each([
  ["no.docx", { markdown: "a" }, "printed"],
  ["no.html", { markdown: "a" }, "HTML,"],
  ["no.xlsx", { sheets: [{ name: "S", rows: [["a"]] }] }, "printed"],
])("what nobody could look at is written, and says why: %s", async (path, content, not) => {
  const without = await write({ path, ...content });
  expect(without.text).toEndWith("How it looks was not checked: there is no browser here that draws it.");
  const blind = await write({ path: `blind-${path}`, ...content }, browsers.browsers, false);
  expect(blind.text).toEndWith("How it looks was not checked: you do not see pictures.");
  const failing = await write(
    { path: `failing-${path}`, ...content },
    { print: () => Promise.reject(new AppError("timeout", "Too late.")) },
  );
  expect(failing.text).toEndWith("How it looks was not checked: it could not be drawn (Too late).");
  for (const { text, isError, images } of [without, blind, failing]) {
    expect([isError, images]).toEqual([false, undefined]);
    expect(text).not.toContain(not);
  }
});

test("a web page holds its chart and shows HTML as text; a PDF without a browser says what else there is", async () => {
  expect((await write({ path: "report.html", markdown })).isError).toBe(false);
  const page = await file("report.html").text();
  expect(page).toContain("data:image/svg+xml;base64,");
  expect(page).toContain("default-src 'none'");
  expect(page).toContain("<title>Numbers</title>");
  expect(page).not.toContain("<script>");
  const { text, isError } = await write({ path: "no.pdf", markdown });
  expect([isError, text]).toEqual([true, "There is no browser here that prints a PDF; write .docx or .html."]);
});

test("a workbook whose formulas depend on themselves is not written, and the cells are named", async () => {
  const rows = [["EUR"], [1], ["=SUM(A2:A3)"]];
  const { text, isError } = await write({ path: "circle.xlsx", sheets: [{ name: "Sums", rows }] });
  expect([isError, text]).toEqual([true, "Formulas depend on themselves: Sums!A3 needs Sums!A3. Nothing was written."]);
  expect(await file("circle.xlsx").exists()).toBe(false);
});

test("a workbook has several sheets, formats, dates and formulas; a CSV brings values only", async () => {
  await Bun.write(file("in.csv"), 'code,n\n007,5\n"=HYPERLINK(""https://evil.example"")",1.5\n');
  const sheets = [
    {
      name: "Sums",
      rows: [
        ["Day", "EUR"],
        ["2024-02-29", 2.5],
        ["Sum", "=SUM(B2:B2)"],
        ["'=text", null],
      ],
      formats: { B: "#,##0.00" },
    },
    { name: "Data", csv: "in.csv" },
  ];
  const { text, isError } = await write({ path: "book.xlsx", sheets });
  expect([isError, text]).toEqual([
    false,
    'Written and read back: book.xlsx, "Sums" (4 rows, 1 formula; of its texts became 1 date), "Data" (3 rows, 0 formulas). Formulas give Sums!B3 = 2.50. How it looks was not checked: there is no browser here that draws it.',
  ]);
  const book = await readXlsx(await file("book.xlsx").bytes(), { readStyles: true });
  const [sums, data] = book.sheets;
  expect(sums?.rows[1]?.[0]).toEqual(new Date("2024-02-29"));
  expect(sums?.rows[3]?.[0]).toBe("=text");
  expect(sums?.cells?.get("1,1")?.style?.numFmt).toBe("#,##0.00");
  expect(sums?.cells?.get("2,1")).toMatchObject({ formula: "SUM(B2:B2)", formulaResult: 2.5 });
  expect(data?.rows.slice(1)).toEqual([
    ["007", 5],
    ['=HYPERLINK("https://evil.example")', 1.5],
  ]);
});

test.each<[object, string]>([
  [
    { path: "a.xlsx", sheets: [{ name: "S", rows: [['=WEBSERVICE("https://evil.example")']] }] },
    "The formula in S!A1 is refused",
  ],
  [{ path: "a.xlsx", markdown: "x" }, "For .xlsx give sheets"],
  [{ path: "a.xlsx", sheets: [{ name: "S" }] }, 'The sheet "S" needs either rows or csv.'],
  [{ path: "a.docx", sheets: [{ name: "S", rows: [["a"]] }] }, "For .docx give markdown"],
  [{ path: "a.docx", markdown: "![x](https://evil.example/a.png)" }, "is not an image file of the workspace"],
  [{ path: "a.docx", markdown: "![x](../../../etc/passwd.png)" }, "outside the workspace"],
  [{ path: "a.html", markdown: '```vega-lite\n{"mark":"bar"}\n```' }, "is not a chart with data.values"],
  [
    {
      path: "a.html",
      markdown: '```vega-lite\n{"mark":{"type":"image","url":"https://evil.example"},"data":{"values":[{"a":1}]}}\n```',
    },
    "A chart loads nothing",
  ],
  [{ path: "../out.docx", markdown: "x" }, "outside the workspace"],
  [{ path: "a.exe", markdown: "x" }, "ends in .docx, .pdf, .html or .xlsx"],
])("what cannot or must not be written is refused, and nothing is left: %#", async (asked, problem) => {
  const { text, isError } = await write(asked);
  expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(problem) });
  for (const name of ["a.xlsx", "a.docx", "a.html"]) expect(await file(name).exists()).toBe(false);
});

test("a printed page ends where the text says so, and a wide table is on it whole", async () => {
  const { browser } = printerForTest();
  const columns = [
    "Week",
    "Stations",
    "Rides",
    "Complaints",
    "Income EUR",
    "Running costs EUR",
    "Balance EUR",
    "Rides to break even",
    "Longest ride of all",
  ];
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const table = [row(columns), row(columns.map(() => "---")), row(columns.map((_, at) => `${at}9,${at}99`))].join("\n");
  const asked = { path: "two.pdf", markdown: `# One\n\n${table}\n\n\\newpage\n\nsecond` };
  expect((await write(asked, browser)).text).toContain("PDF, 2 pages, 1 line on the second");
  const { text } = await read("two.pdf");
  expect(text.match(/\b(\d)9,\1{1}99\b/g)).toHaveLength(columns.length);
});
