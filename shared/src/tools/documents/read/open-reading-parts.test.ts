import { expect, spyOn, test } from "bun:test";
import { zipOf } from "../../../testing/documents.ts";
import { fitPieces, oneText } from "./fit-pieces.ts";
import * as odt from "./office/read-odt.ts";
import * as slides from "./office/read-slides.ts";
import * as word from "./office/read-word.ts";
import * as workbook from "./office/read-workbook.ts";
import { openReading } from "./open-reading.ts";
import * as pdf from "./pdf/read-pdf.ts";
import * as book from "./read-book.ts";
import * as mail from "./read-mail.ts";
import * as picture from "./read-picture.ts";
import * as text from "./read-text.ts";

const zip = (path: string, content = "") => zipOf([[path, content]]);
const open = (type: string) => zip("mimetype", `application/vnd.oasis.opendocument.${type}`);
const bytes = (content: string) => new Uint8Array(Buffer.from(content, "latin1"));
const [part, scans] = ["2-3", "draw"] as const;

type Reader = { readonly calls: () => readonly (readonly unknown[])[] } & Disposable;
/** Takes the place of a reader, and keeps what it is called with. */
function taken(make: () => ReturnType<typeof spyOn>): Reader {
  const spy = make();
  spy.mockReturnValue(oneText("read", "") as never);
  return { calls: () => spy.mock.calls, [Symbol.dispose]: () => spy.mockRestore() };
}

test.each<[string, Uint8Array, () => Reader, readonly unknown[]]>([
  ["PDF", bytes("%PDF-1.7"), () => taken(() => spyOn(pdf, "readPdf")), ["bytes", part, scans]],
  ["Word document", zip("word/document.xml"), () => taken(() => spyOn(word, "readWord")), ["file", scans]],
  ["presentation", zip("ppt/presentation.xml"), () => taken(() => spyOn(slides, "readSlides")), ["file", part]],
  ["xlsx", zip("xl/workbook.xml"), () => taken(() => spyOn(workbook, "readWorkbook")), ["xlsx", "bytes", part]],
  ["xlsb", zip("xl/workbook.bin"), () => taken(() => spyOn(workbook, "readWorkbook")), ["xlsb", "bytes", part]],
  ["ods", open("spreadsheet"), () => taken(() => spyOn(workbook, "readWorkbook")), ["ods", "bytes", part]],
  ["xls", bytes("\xd0\xcf\x11\xe0"), () => taken(() => spyOn(workbook, "readWorkbook")), ["xls", "bytes", part]],
  ["odt", open("text"), () => taken(() => spyOn(odt, "readOdt")), ["file"]],
  ["book", zip("META-INF/container.xml"), () => taken(() => spyOn(book, "readBook")), ["file", part]],
  ["mail", bytes("From: a@b\nSubject: x\n\nx"), () => taken(() => spyOn(mail, "readMail")), ["bytes", part]],
  ["picture", bytes("\xff\xd8\xff"), () => taken(() => spyOn(picture, "readPicture")), ["bytes", scans]],
  ["page", bytes("<html>"), () => taken(() => spyOn(text, "readHtml")), ["bytes"]],
  ["text", bytes("x"), () => taken(() => spyOn(text, "readText")), ["bytes"]],
])("a %s is read by its own reader, with what was asked for", async (_, content, make, expected) => {
  using reader = make();
  expect((await openReading(content, { name: "a.xls", part, scans })).about).toBe("read");
  const told = reader.calls().map((call) =>
    call.map((one) => {
      if (one === content) return "bytes";
      return (one as { readonly bytes?: unknown }).bytes === content ? "file" : one;
    }),
  );
  expect(told).toEqual([[...expected]]);
});

test("the title of a page stands above it, once", async () => {
  const words = `<p>${"Long words of it. ".repeat(40)}</p>`;
  const read = async (html: string) => {
    const reading = await openReading(Buffer.from(html), { name: "a.html", part: undefined, scans: "name" });
    return (await fitPieces(reading, { from: 0, characters: 10_000, pictures: 0 })).text;
  };
  expect(await read(`<html><title>The title</title><body><article>${words}</article></body></html>`)).toStartWith(
    "# The title\n\nLong words of it.",
  );
  const headed = `<html><title>The title</title><body><article><h1>The title</h1>${words}</article></body></html>`;
  expect((await read(headed)).match(/The title/g)).toHaveLength(1);
  expect(await read(`<html><body><article>${words}</article></body></html>`)).toStartWith("Long words");
});
