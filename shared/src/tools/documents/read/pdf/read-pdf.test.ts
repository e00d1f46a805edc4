import { expect, test } from "bun:test";
import { inflateSync } from "node:zlib";
import { type PdfPage, pdfOf, pdfText } from "../../../../testing/web/pdf.ts";
import type { Picture } from "../../document-protocol.ts";
import { fitPieces } from "../fit-pieces.ts";
import type { Scans } from "../reading.ts";
import { readPdf } from "./read-pdf.ts";

const line = (text: string): PdfPage => ({ content: pdfText(text, 72, 720) });
const file = (...made: Parameters<typeof pdfOf>) => new Uint8Array(pdfOf(...made));
const read = async (bytes: Uint8Array, part?: string, scans: Scans = "name", characters = 10_000) =>
  await fitPieces(await readPdf(bytes, part, scans), { from: 0, characters, pictures: 9 });

const four = () =>
  file(
    ["one", "two", "three", "four"].map((name) => line(`This is page ${name}.`)),
    { title: " A " },
  );
const pages = (text: string) => text.match(/\w+(?=\.)/g);

test("the pages of a part are read, in order, and how to go on is told", async () => {
  const all = await read(four());
  expect(all).toMatchObject({ about: "PDF, 4 pages", shown: { first: "page 1", last: "page 4" } });
  expect(all.text).toStartWith("Title: A\n\n[page 1]\nThis is page one.\n");
  expect(pages(all.text)).toEqual(["one", "two", "three", "four"]);
  const some = await read(four(), "2-3");
  expect(some.text).toBe("[page 2]\nThis is page two.\n\n[page 3]\nThis is page three.\n");
  expect(some.shown).toEqual({ first: "page 2", last: "page 3" });
  expect(pages((await read(four(), "3-")).text)).toEqual(["three", "four"]);
  expect((await read(four(), "1-3", "name", 60)).next).toEqual({ part: "2-3" });
  expect((await read(four(), "4-9")).text).toBe("[page 4]\nThis is page four.\n");
  await expect(read(four(), "5")).rejects.toThrow("There is no page 5: the document has 4 pages.");
});

test("the title is part of the first page, so that a page that is cut goes on where it ended", async () => {
  const rows = Array.from({ length: 20 }, (_, row) => pdfText(`Row ${row} of a full page.`, 72, 760 - 30 * row, 9));
  const bytes = file([{ content: rows.join("\n") }, line("This is page two.")], { title: "A" });
  const begun = await read(bytes, undefined, "name", 200);
  expect(begun.text).toStartWith("Title: A\n\n[page 1]\nRow 0 of a full page.");
  const { part = "", from = 0 } = begun.next ?? {};
  const rest = await fitPieces(await readPdf(bytes, part, "name"), { from, characters: 10_000, pictures: 4 });
  expect(`${begun.text}${rest.text}`).toBe((await read(bytes)).text);
});

test("of a long PDF the bookmarks are told with their pages, also those that lead nowhere", async () => {
  const full = Array.from({ length: 12 }, (_, at) => line(`This is page ${at} and it says what it says.`));
  const bookmarks = [
    { title: "First", page: 1 },
    { title: "Inner", page: 4, level: 2 },
    { title: "By name", name: "nowhere", page: 2 },
    { title: "Torn out", page: 99 },
    { title: "Last", page: 12 },
  ] as const;
  const bytes = file(full, { bookmarks });
  const budget = { from: 0, characters: 120, pictures: 4, beginning: 60 };
  const { text } = await fitPieces(await readPdf(bytes, undefined, "name"), budget);
  expect(text).toStartWith(
    "Outline:\n- First: page 1\n  - Inner: page 4\n- By name\n- Torn out\n- Last: page 12\n\n[page 1]\n",
  );
  expect(text).not.toContain("[page 2]");
  const bare = await fitPieces(await readPdf(file(full), undefined, "name"), budget);
  expect(bare.text).toBe("[page 1]\nThis is page 0 and it says what it says.\n");
});

test("what is filled in on a page is told, and a page without text is named", async () => {
  const bytes = file([
    { ...line("Name below, please"), fields: { name: "Ann", empty: "" } },
    { content: "", fields: { city: "Ulm" } },
    line("12 letters.."),
    line("eleven ltrs"),
  ]);
  expect((await read(bytes)).text.split("\n\n[")).toEqual([
    "[page 1]\nName below, please\n\n- field name: Ann",
    "page 2]\n- field city: Ulm",
    "page 3]\n12 letters..",
    "page 4]\n(A page without text: a picture or a scan.)\n",
  ]);
});

test("a PDF that is locked or damaged is told as what it is", async () => {
  const key = "<".concat("00".repeat(32), ">");
  const trailer = `/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O ${key}/U ${key}>>`;
  await expect(read(file([line("x")], { trailer }))).rejects.toMatchObject({
    code: "unsupported",
    message: "The PDF is locked with a password.",
  });
  await expect(read(new TextEncoder().encode("%PDF-1.4 nothing"))).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringMatching(/^The PDF is damaged: (?!\w*(?:Error|Exception):)/),
  });
});

/** The size of a picture, and the colours of its quarters, from the upper left on. */
async function seen({ data }: Picture) {
  const content = Buffer.from(data, "base64");
  const { width, height } = await new Bun.Image(content).metadata();
  const png = Buffer.from(await new Bun.Image(content).resize(2, 2, { fit: "fill" }).png().bytes());
  const at = png.indexOf("IDAT");
  const lines = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  const quarters = [1, 5, 10, 14].map((place) => {
    const [red = 0, green = 0, blue = 0] = lines.subarray(place, place + 3);
    if (green > 150) return "white";
    return red > blue ? "red" : "blue";
  });
  return { size: `${width} × ${height}`, quarters };
}

test("pages without text are drawn as they are, the right side up, in their colours, and blank ones are told", async () => {
  const red = { content: "1 0 0 rg 0 400 300 400 re f 0 0 1 rg 300 0 312 400 re f" };
  const bytes = file([line("There is text here."), red, { content: "" }, { ...red, size: [800, 400] }]);
  const { text, pictures } = await read(bytes, undefined, "show");
  expect(text).toBe(
    "[page 1]\nThere is text here.\n\n[page 2]\n(A page without text: see its picture.)\n\n[page 3]\n(An empty page.)\n\n[page 4]\n(A page without text: see its picture.)\n",
  );
  const quarters = ["red", "white", "white", "blue"] as const;
  expect(await Promise.all(pictures.map(seen))).toEqual([
    { size: expect.stringMatching(/^15\d\d × (?:1999|2000)$/), quarters: [...quarters] },
    { size: "2000 × 1000", quarters: expect.anything() },
  ]);
  const drawn = await read(bytes, "1-2", "draw");
  expect([drawn.pictures.length, drawn.text]).toEqual([2, "[page 1]\nThere is text here.\n\n\n[page 2]\n\n"]);
});

test("of a page with text it is told how many pictures it has, and the page is shown where it is the whole part", async () => {
  const inline = "q 100 0 0 100 72 400 cm BI /W 2 /H 2 /CS /G /BPC 8 /F /AHx ID ff00ff00> EI Q";
  const bytes = file([line("No picture is here."), { content: `${pdfText("One is here.", 72, 720)}\n${inline}` }]);
  expect((await read(bytes)).text).toBe(
    "[page 1]\nNo picture is here.\n\n[page 2]\nOne is here.\n(1 picture on this page.)\n",
  );
  const shown = await read(bytes, undefined, "show");
  expect([shown.pictures.length, shown.text]).toEqual([
    0,
    expect.stringContaining("(1 picture on this page: part 2 alone shows it.)"),
  ]);
  const alone = await read(bytes, "2", "show");
  expect([alone.pictures.length, alone.text]).toEqual([1, "[page 2]\nOne is here.\n(1 picture: see the page.)\n"]);
  expect((await read(bytes, "1", "show")).pictures).toEqual([]);
});
