import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { writeXlsx } from "hucre/xlsx";
import { bookOf, claimingZip, shape, slidesOf, wordOf, zipOf } from "../../../../testing/documents.ts";
import { readBook } from "../read-book.ts";
import { zipContent } from "../zip-content.ts";
import { readOdt } from "./read-odt.ts";
import { readSlides } from "./read-slides.ts";
import { readWord } from "./read-word.ts";
import { readWorkbook } from "./read-workbook.ts";

const file = async (bytes: Uint8Array) => ({ bytes, zip: await zipContent(bytes) });
const most = 400 * 2 ** 20;

test.each([
  ["a Word document", () => wordOf("x"), async (bytes: Uint8Array) => readWord(await file(bytes), "show")],
  ["a text", async () => zipOf([["content.xml", "<x/>"]]), async (bytes: Uint8Array) => readOdt(await file(bytes))],
  ["slides", async () => slidesOf([shape("x")]), async (bytes: Uint8Array) => readSlides(await file(bytes), undefined)],
  ["a book", async () => bookOf(["x"]), async (bytes: Uint8Array) => readBook(await file(bytes), undefined)],
])("%s that claims to unpack to more than 400 MB is refused before it is unpacked", async (_, make, read) => {
  const made = await make();
  expect((await read(await claimingZip(made, most))).about).not.toBe("");
  const refused = read(await claimingZip(made, most + 1));
  await expect(refused).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining("than the 400 MB"),
  });
});

test("a picture that a Word document names, but does not bring, is not looked for", async () => {
  const folder = await mkdtemp(join(tmpdir(), "word-"));
  const secret = join(folder, "secret.png");
  await Bun.write(secret, "canary");
  const rels = (list: string) =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list}</Relationships>`;
  const type = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const blip = `<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip r:link="rId1"/></pic:blipFill></pic:pic>`;
  const drawing = `<w:drawing><wp:inline><wp:docPr id="1" descr="x"/><a:graphic><a:graphicData>${blip}</a:graphicData></a:graphic></wp:inline></w:drawing>`;
  const named = [
    ["w", "http://schemas.openxmlformats.org/wordprocessingml/2006/main"],
    ["wp", "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"],
    ["a", "http://schemas.openxmlformats.org/drawingml/2006/main"],
    ["r", type],
  ].map(([name, space]) => `xmlns:${name}="${space}"`);
  for (const target of [pathToFileURL(secret).href, secret]) {
    const made = zipOf([
      ["[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'],
      ["_rels/.rels", rels(`<Relationship Id="rId1" Type="${type}/officeDocument" Target="word/document.xml"/>`)],
      [
        "word/document.xml",
        `<w:document ${named.join(" ")}><w:body><w:p><w:r>${drawing}</w:r></w:p></w:body></w:document>`,
      ],
      [
        "word/_rels/document.xml.rels",
        rels(`<Relationship Id="rId1" Type="${type}/image" Target="${target}" TargetMode="External"/>`),
      ],
    ]);
    const read = await readWord(await file(made), "draw").catch((error) => ({ html: String(error) }));
    expect([target, read.html?.includes(Buffer.from("canary").toString("base64"))]).toEqual([target, false]);
  }
  await rm(folder, { recursive: true });
});

test("sheets that nobody is to see are told as hidden, in small and large workbooks, and so are macros", async () => {
  const made = await writeXlsx({
    sheets: [
      { name: "A", rows: [["a"]] },
      { name: "B", rows: [["b"]], hidden: true },
      { name: "C", rows: [["c"]], veryHidden: true },
    ],
  });
  const { entries, text } = await zipContent(made);
  const own = await Promise.all(entries.map(async ({ path }) => [path, (await text(path)) ?? ""] as const));
  const macros = zipOf([...own, ["xl/vbaProject.bin", "x"]]);
  for (const bytes of [macros, await claimingZip(macros, 48 * 2 ** 20 + 1)]) {
    const { about, pieces } = await readWorkbook("xlsx", bytes, undefined);
    expect(about).toStartWith("Excel workbook, 3 sheets, with macros (not run)");
    const [first] = await Array.fromAsync(pieces);
    expect(first?.text.split("\n")[0]).toMatch(
      /^Sheets: #1 A(?:, 1 row)?; #2 B \(hidden\)(?:, 1 row)?; #3 C \(hidden\)/,
    );
  }
  expect((await readWorkbook("xlsx", made, undefined)).about).toBe("Excel workbook, 3 sheets");
});
