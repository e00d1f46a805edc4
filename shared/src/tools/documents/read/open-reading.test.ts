import { expect, test } from "bun:test";
import { writeOds } from "hucre/ods";
import { writeXlsx } from "hucre/xlsx";
import { bookOf, shape, slidesOf, zipOf } from "../../../testing/documents.ts";
import { pdf } from "../../../testing/web/pdf.ts";
import { type DocumentKind, documentKind } from "./document-kind.ts";
import { fitPieces } from "./fit-pieces.ts";
import { openReading } from "./open-reading.ts";

/** What one call shows of a document, read in this process. */
async function read(content: string | Uint8Array, part?: string, { name = "x", characters = 100_000, from = 0 } = {}) {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const reading = await openReading(bytes, { name, part, scans: "name" });
  return await fitPieces(reading, { from, characters, pictures: 4 });
}

const utf16 = Buffer.from("\ufeffa,b\n", "utf16le");
test.each<[string, string | Uint8Array, string, DocumentKind]>([
  ["a PDF with something before it", `junk\n${"x".repeat(900)}%PDF-1.7`, "a.txt", "pdf"],
  ["a PDF named like a picture", "%PDF-1.7", "a.png", "pdf"],
  ["a workbook by its content", zipOf([["xl/workbook.xml", ""]]), "a.docx", "xlsx"],
  ["a binary workbook", zipOf([["xl/workbook.bin", ""]]), "a", "xlsb"],
  ["a zip archive", zipOf([["a.txt", ""]]), "a.docx", "zip"],
  ["an empty zip archive", zipOf([]), "a", "zip"],
  [
    "an open document of another kind",
    zipOf([["mimetype", "application/vnd.oasis.opendocument.graphics"]]),
    "a.odt",
    "zip",
  ],
  ["an open text", zipOf([["mimetype", "application/vnd.oasis.opendocument.text\n"]]), "a", "odt"],
  ["an old workbook", Buffer.from("d0cf11e0", "hex"), "A.XLS", "xls"],
  ["an old document", Buffer.from("d0cf11e0", "hex"), "a.doc", "unknown"],
  ["a WebP picture", "RIFF....WEBPVP8 ", "a", "image"],
  ["sound in the same wrapping", "RIFF....WAVEfmt \0", "a", "unknown"],
  ["text of two bytes a letter", utf16, "a.csv", "text"],
  ["anything with a zero byte", `a${"b".repeat(8_000)}\0`, "a.txt", "unknown"],
  ["a page behind a declaration and a comment", '<?xml version="1.0"?>\n<!-- a -->\n<HTML>', "a.txt", "html"],
  ["a page by its name", "<p>x</p>", "a.HTM", "html"],
  ["a mail by its content", "Subject: x\r\nReceived: y\r\n z\r\nFrom: a@b\r\n\r\nHi", "a.txt", "mail"],
  ["a letter that is no mail", "Dear all: x\nFrom: me\n", "a.txt", "text"],
  ["notes that begin like one", "Subject: x\n\nplain", "a.txt", "text"],
  ["a mailbox by its content", "From a@b Tue Mar  5 10:00:00 2024\nFrom: a@b\n\nHi", "a", "mail"],
  ["a mail by its name", "Hi", "a.eml", "mail"],
  ["nothing", "", "a", "text"],
])("%s is known for what it is", async (_, content, name, kind) => {
  const bytes = typeof content === "string" ? Buffer.from(content, "latin1") : content;
  expect(await documentKind(bytes, name)).toBe(kind);
});

test("what is none of them is refused with the kinds that are read", async () => {
  await expect(read("\0\0")).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("This kind of file is not read. Known are PDF, docx, pptx, xlsx"),
  });
});

const long = "x".repeat(10_000);
const mail = (subject: string, body: string) => `From: ${subject}@a.example\nSubject: ${subject}\n\n${body}\n`;
const box = ["one", "two", "three"]
  .map((name) => `From a Tue Mar  5 2024\n${mail(name, `body of ${name}`)}`)
  .join("\n");

test("a mailbox is read from any message to any other, each whole and without the line that parts them", async () => {
  const all = await read(box);
  expect(all).toMatchObject({ about: "Mailbox, 3 messages", shown: { first: "message 1", last: "message 3" } });
  expect(all.text.match(/^\[message \d\]\nFrom: \w+@/gm)).toHaveLength(3);
  expect(all.text).not.toContain("Mar  5");
  const some = await read(box, "2-3");
  expect(some.text).not.toContain("body of one");
  for (const name of ["two", "three"]) expect(some.text).toContain(`body of ${name}`);
  expect((await read(box, "2")).text).not.toContain("body of three");
  expect((await read(box, undefined, { characters: 60 })).next).toEqual({ part: "2-3" });
  const quoting = `From a Tue Mar  5 2024\n${mail("one", "He wrote:\n>From here on\nFromage")}`;
  expect((await read(quoting)).about).toBe("E-mail");
});

test("of a mail the people, the day as it was written, the text and what is attached are told; small texts are shown", async () => {
  const parts = [
    ["text/plain", "a.txt", "attached text"],
    ["text/csv", "b.csv", long.slice(1)],
    ["text/tab-separated-values", "c.tsv", long],
    ["text/html", "d.html", "<p>attached page</p>"],
  ];
  const attached = parts.map(
    ([type, name, content]) =>
      `--x\r\nContent-Type: ${type}\r\nContent-Disposition: attachment; filename=${name}\r\n\r\n${content}\r\n`,
  );
  const { text } = await read(
    `From: a@a.example\r\nTo: Team: b@b.example, "C, D" <c@c.example>;\r\nCc: e@e.example\r\nDate: Tue, 5 Mar 2024 23:30:00 -0800\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>Only <b>HTML</b></p>\r\n${attached.join("")}--x--\r\n`,
  );
  expect(text).toStartWith(
    "From: a@a.example\nTo: Team: b@b.example, C, D <c@c.example>\nCc: e@e.example\nDate: Tue, 5 Mar 2024 23:30:00 -0800\n\nOnly **HTML**\n\nAttached (unpack makes files of them):\n",
  );
  expect(text).toContain("- a.txt (text/plain, 14 bytes):\nattached text\n");
  expect(text).toContain(`\n- b.csv (text/csv, 10000 bytes):\n${long.slice(1)}\n`);
  expect(text).toContain("\n- c.tsv (text/tab-separated-values, 10001 bytes)\n- d.html");
  for (const shown of [long, "attached page"]) expect(text).not.toContain(shown);
});

test("slides are in the order in which they are shown, with what is hidden, noted and listed, without numbers and dates", async () => {
  const levels = `<p:sp><p:txBody><a:p><a:r><a:t>Top</a:t></a:r></a:p><a:p><a:pPr lvl="1"/><a:r><a:t>Under</a:t><a:br/><a:t>it</a:t></a:r></a:p></p:txBody></p:sp>`;
  const picture = `<p:pic><p:nvPicPr><p:cNvPr descr=" A&#160;&amp;lt; B "/></p:nvPicPr></p:pic><p:pic/>`;
  const cells = (...words: string[]) =>
    `<a:tr>${words.map((word) => `<a:tc><a:txBody><a:p><a:r><a:t>${word}</a:t></a:r></a:p></a:txBody></a:tc>`).join("")}</a:tr>`;
  const table = `<p:graphicFrame><a:tbl>${cells("A", "B")}${cells("1", "2|3")}</a:tbl></p:graphicFrame>`;
  const skipped = ["sldNum", "dt", "ftr", "hdr"].map((kind) => shape("unread", kind)).join("");
  const slides = slidesOf(
    [
      shape("Plan", "ctrTitle") + skipped,
      levels + picture + table,
      `</p:cSld></p:sld><p:sld show="0"><p:cSld>${shape("Last")}`,
    ].map((body, at) => (at === 2 ? `<p:x/>${shape("Last")}` : body)),
    "Say it",
  );
  const { about, text } = await read(slides);
  expect(about).toBe("PowerPoint presentation, 3 slides as text; how they look is not drawn here");
  expect(text).toBe(
    "[slide 1]\n## Plan\n\nNotes: Say it\n\n[slide 2]\nTop\n  - Under\nit\n\n[picture: A\u00a0&lt; B]\n\n[picture]\n\n| A | B |\n| --- | --- |\n| 1 | 2\\|3 |\n\n[slide 3]\nLast\n",
  );
  expect((await read(slides, "2-2")).text).toStartWith("[slide 2]");
  expect((await read(slides, "3-")).text).toBe("[slide 3]\nLast\n");
  const hidden = zipOf([
    ["ppt/presentation.xml", '<p:presentation><p:sldId r:id="a"/><p:sldId r:id="b"/></p:presentation>'],
    [
      "ppt/_rels/presentation.xml.rels",
      '<x><Relationship Id="a" Type="t/slide" Target="/ppt/slides/1.xml"/><Relationship Id="b" Type="t/slide" TargetMode="External" Target="http://evil.example/"/></x>',
    ],
    ["ppt/slides/1.xml", `<p:sld show="0">${shape("Secret")}</p:sld>`],
  ]);
  expect(await read(hidden)).toMatchObject({
    about: "PowerPoint presentation, 1 slide as text; how they look is not drawn here",
    text: "[slide 1]\n(hidden slide)\n\nSecret\n",
  });
});

test("a book's chapters are in the order of its spine, each once, whatever its files are called", async () => {
  const book = zipOf([
    ["META-INF/container.xml", '<c><rootfile full-path="in/b.opf"/></c>'],
    [
      "in/b.opf",
      '<package><opf:item id="a" href="one%20a.xhtml"/><item id="b" href="../two.xhtml"/><item id="c" href="%ZZ"/><itemref idref="b"/><opf:itemref idref="a"/><itemref idref="none"/></package>',
    ],
    ["in/one a.xhtml", "<p>One.</p>"],
    ["two.xhtml", "<p>Two.</p>"],
  ]);
  expect(await read(book)).toMatchObject({
    about: "EPUB, 2 chapters",
    text: "[chapter 1]\nTwo.\n\n[chapter 2]\nOne.\n",
  });
  const titled = bookOf(["<p>a</p>", "<p>b</p>", "<p>c</p>"]);
  expect((await read(titled, "2-")).text).toBe("[chapter 2]\nb\n\n[chapter 3]\nc\n");
  expect((await read(titled, "1")).text).toBe("Title: A book\n\n[chapter 1]\na\n");
});

const openText = (body: string) =>
  zipOf([
    ["mimetype", "application/vnd.oasis.opendocument.text"],
    ["content.xml", `<office:document-content><office:text>${body}</office:text></office:document-content>`],
  ]);
test.each([
  ["<text:h text:outline-level='9'>Deep</text:h>", "###### Deep"],
  ["<text:h>Flat</text:h>", "# Flat"],
  ["<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:p>kept</text:p>", "kept"],
  [
    "<table:table><table:table-row><table:table-cell table:number-columns-repeated='60'><text:p>a</text:p></table:table-cell></table:table-row></table:table>",
    `${"| a ".repeat(50)}|\n${"| --- ".repeat(50)}|`,
  ],
  ["<text:p>a<text:tab/>b<text:line-break/>c &lt;b&gt;</text:p>", "a b  \nc <b>"],
  [
    "<text:p><text:a xlink:href='https://a.example/?a&amp;b'>there</text:a></text:p>",
    "[there](https://a.example/?a&b)",
  ],
  ["<text:p><text:a xlink:href='javascript:x'>there</text:a></text:p>", "there"],
  [
    "<text:p>So<office:annotation><dc:date>2024</dc:date><text:p>Not &lt;sure&gt;</text:p></office:annotation></text:p>",
    "So (comment: Not <sure>)",
  ],
  ["<draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame>", "Boxed"],
  ["<text:p><draw:frame><svg:title>T</svg:title></draw:frame></text:p>", "[picture: T]"],
  [
    "<table:table><table:table-row><table:table-cell table:number-columns-repeated='2'><text:p>a</text:p></table:table-cell><table:covered-table-cell/><table:table-cell table:number-columns-repeated='16000'/></table:table-row></table:table>",
    "| a | a |  |\n| --- | --- | --- |",
  ],
])("of an open text %s is %p", async (body, expected) => {
  expect((await read(openText(body))).text.replaceAll("\\", "")).toBe(expected);
});

const workbook = () =>
  writeXlsx({
    sheets: [
      { name: "One", rows: [["a", "b", "c"], [1, 2, 3], [], [4, null, 6]] },
      { name: "Empty", rows: [] },
      { name: "My 'own'!", rows: [["x"], ["y"]], hidden: true },
    ],
  });

test.each([
  ["One", "#1 row 1", "| 4 | 4 |  | 6 |"],
  ["#1!B2:C2", "#1 row 2", "| 2 | 2 | 3 |"],
  ["One!$C$4:$A$2", "#1 row 2", "| 4 | 4 |  | 6 |"],
  ["B2", "#1 row 2", "| 2 | 2 |"],
  ["#3", "#3 row 1", "## Sheet #3 My 'own'! (hidden)\n\n|  | A |"],
  ["#2", "#2 (empty)", "## Sheet #2 Empty\n\n(empty)"],
  ["#2-", "#2 (empty)", "| 2 | y |"],
])("of a workbook %s begins at %s and holds %j", async (part, first, piece) => {
  const { shown, text } = await read(await workbook(), part);
  expect(shown?.first).toBe(first);
  expect(text).toContain(piece);
  expect(text.match(/^## Sheet/gm)).toHaveLength(part === "#2-" ? 2 : 1);
});

test("of a workbook that does not fit the call after goes on with the very next row, to the end of what was asked for", async () => {
  const content = await workbook();
  const seen: string[] = [];
  let calls = 0;
  for (let next: string | undefined = ""; next !== undefined && calls < 20; calls++) {
    const extract = await read(content, next, { characters: 170 });
    seen.push(...(extract.text.match(/^\| \d+ \|.*$|^\(empty\)$/gm) ?? []));
    expect(extract.next?.from).toBeUndefined();
    next = extract.next?.part;
  }
  expect(calls).toBeGreaterThan(2);
  expect((await read(content)).text.match(/^Sheets: /gm)).toHaveLength(1);
  expect(seen).toEqual([
    "| 1 | a | b | c |",
    "| 2 | 1 | 2 | 3 |",
    "| 4 | 4 |  | 6 |",
    "(empty)",
    "| 1 | x |",
    "| 2 | y |",
  ]);
});

test.each([
  ["Sum", 'There is no sheet "Sum"; there are #1 "One", #2 "Empty", #3 "My \'own\'!".'],
  ["#4", 'There is no sheet "#4"; there are'],
  ["#0", 'There is no sheet "#0"; there are'],
  ["One!B", '"B" is not a range of cells such as A1:F40.'],
])("a part of a workbook that is not there is refused: %s", async (part, message) => {
  await expect(read(await workbook(), part)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(message),
  });
});

test("the macros of a workbook are told, two hundred columns are shown, and what stands in a cell is one cell", async () => {
  const wide = Array.from({ length: 201 }, (_, at) => at);
  const made = await writeOds({
    sheets: [{ name: "S", rows: [wide, ["a|b\nc", "x".repeat(1_001), new Date("2024-02-29T13:00:00Z")]] }],
  });
  const { text } = await read(made);
  const rows = text.split("\n").filter((line) => /^\| \d+ \|/.test(line));
  expect(rows[0]?.split("|")).toHaveLength(1 + 1 + 200 + 1);
  expect(rows[1]).toStartWith(`| 2 | a\\|b<br>c | ${"x".repeat(1_000)}… | 2024-02-29 13:00:00 |`);
  const { listed, zip } = { listed: ["xl/vbaProject.bin", "xl/VBAPROJECT.BIN"], zip: await workbook() };
  expect((await read(zip)).about).toBe("Excel workbook, 3 sheets");
  const { macrosNote } = await import("./office/office-file.ts");
  for (const path of listed)
    expect(macrosNote({ entries: [{ path, size: 1, packed: 1 }] } as never)).toBe(", with macros (not run)");
});

test("of an archive the files of a part are listed with their sizes, and an empty one is told as such", async () => {
  const archive = zipOf([
    ["a.txt", "1"],
    ["b/c.txt", "22"],
    ["d.txt", "333"],
  ]);
  expect(await read(archive)).toMatchObject({
    about: "Zip archive, 3 files, 6 bytes unpacked",
    text: "- a.txt (1 bytes)\n- b/c.txt (2 bytes)\n- d.txt (3 bytes)",
    shown: { first: "entry 1", last: "entry 3" },
  });
  expect(await read(archive, "2-3")).toMatchObject({
    about: "Zip archive, 3 files, 6 bytes unpacked",
    text: "- b/c.txt (2 bytes)\n- d.txt (3 bytes)",
  });
  expect(await read(archive, "2")).toMatchObject({
    text: "- b/c.txt (2 bytes)",
    shown: { first: "entry 2", last: "entry 2" },
  });
  expect((await read(archive, undefined, { characters: 20 })).next).toEqual({ part: "2-3" });
  expect((await read(zipOf([]))).about).toBe("Zip archive, 0 files, 0 bytes unpacked");
});

test("the pages of a PDF that were asked for are read, and no other", async () => {
  expect((await read(new Uint8Array(pdf("Bees are insects")), "1")).shown).toEqual({ first: "page 1", last: "page 1" });
  await expect(read(new Uint8Array(pdf("x")), "2")).rejects.toThrow("There is no page 2: the document has 1 page.");
});
