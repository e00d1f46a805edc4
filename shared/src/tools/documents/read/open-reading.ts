import { AppError } from "../../../core/errors.ts";
import { type DocumentKind, documentKind } from "./document-kind.ts";
import type { OfficeFile } from "./office/office-file.ts";
import type { Reading, ReadOptions } from "./reading.ts";
import { listArchive, zipContent } from "./zip-content.ts";

type Reader = (bytes: Uint8Array, options: ReadOptions) => Promise<Reading>;

/** The reader of each kind; its libraries are loaded when it is used. */
const readers: Readonly<Record<Exclude<DocumentKind, "unknown">, Reader>> = {
  pdf: async (bytes, { part, scans }) => (await import("./pdf/read-pdf.ts")).readPdf(bytes, part, scans),
  docx: async (bytes, { scans }) => (await import("./office/read-word.ts")).readWord(await officeFile(bytes), scans),
  pptx: async (bytes, { part }) => (await import("./office/read-slides.ts")).readSlides(await officeFile(bytes), part),
  xlsx: async (bytes, { part }) => (await import("./office/read-workbook.ts")).readWorkbook("xlsx", bytes, part),
  xlsb: async (bytes, { part }) => (await import("./office/read-workbook.ts")).readWorkbook("xlsb", bytes, part),
  xls: async (bytes, { part }) => (await import("./office/read-workbook.ts")).readWorkbook("xls", bytes, part),
  ods: async (bytes, { part }) => (await import("./office/read-workbook.ts")).readWorkbook("ods", bytes, part),
  odt: async (bytes) => (await import("./office/read-odt.ts")).readOdt(await officeFile(bytes)),
  epub: async (bytes, { part }) => (await import("./read-book.ts")).readBook(await officeFile(bytes), part),
  zip: async (bytes, { part }) => listArchive(await zipContent(bytes), part),
  mail: async (bytes, { part }) => (await import("./read-mail.ts")).readMail(bytes, part),
  image: async (bytes, { scans }) => (await import("./read-picture.ts")).readPicture(bytes, scans),
  html: async (bytes) => (await import("./read-text.ts")).readHtml(bytes),
  text: async (bytes) => (await import("./read-text.ts")).readText(bytes),
};

/** Opens a document by its content. Rejects with `unsupported` for a kind that cannot be read. */
export async function openReading(bytes: Uint8Array, options: ReadOptions): Promise<Reading> {
  const kind = await documentKind(bytes, options.name);
  if (kind === "unknown")
    throw new AppError(
      "unsupported",
      "This kind of file is not read. Known are PDF, docx, pptx, xlsx, xlsb, xls, ods, odt, epub, eml, mbox, html, zip, images and text. unpack opens an archive; convert anything else first.",
    );
  return readers[kind](bytes, options);
}

async function officeFile(bytes: Uint8Array): Promise<OfficeFile> {
  return { bytes, zip: await zipContent(bytes) };
}
