import { expect, test } from "bun:test";
import { asksForDocuments } from "./asks-for-documents.ts";

test.each([
  "Read report.pdf, please",
  "Fasse Bericht.DOCX zusammen",
  ..."docx dotx pptx xlsx xlsm xlsb xls ods odt epub eml mbox zip".split(" ").map((ending) => `a.${ending}`),
  ..."PDF Excel PowerPoint spreadsheet workbook slide slides ebook e-book scan scans scanned".split(" "),
  "a Word document",
  "a word-file",
])("a user who writes %j asks for a document", (text) => {
  expect(asksForDocuments(text, "user")).toBe(true);
});

test.each(["in other words", "a document", "a.pdfs", "scandal", "slided", "a.csv", "read_document"])(
  "a user who writes %j asks for none",
  (text) => {
    expect(asksForDocuments(text, "user")).toBe(false);
  },
);

test("a result asks for one by the name of a tool, and not by what it says", () => {
  const asks = (text: string) => asksForDocuments(text, "result");
  expect(["use read_document for it", "write_document writes it"].map(asks)).toEqual([true, true]);
  expect(["a.pdf is a scanned PDF", "spread_document", "read_documents"].map(asks)).toEqual([false, false, false]);
});
