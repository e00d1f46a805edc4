import { Document, HeadingLevel, Packer, Paragraph, Table, TableCell, TableRow, TextRun } from "docx";
import { zipContent } from "../tools/documents/read/zip-content.ts";

/** A file of a zip archive: its path and content. */
type Packed = readonly [path: string, content: string | Uint8Array];

/** A zip archive with these files, stored as they are. */
export function zipOf(files: readonly Packed[]): Uint8Array<ArrayBuffer> {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of files) {
    const [name, data] = [Buffer.from(path), Buffer.from(content as string)];
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(Bun.hash.crc32(data), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), fields, name, data]);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), fields, entry, name]));
    locals.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, list, end]);
}

/**
 * An archive with the same texts and one more file, which claims that all together unpack to so
 * many bytes. Nobody unpacks it.
 */
export async function claimingZip(archive: Uint8Array, unpackedBytes: number): Promise<Uint8Array> {
  const { entries, text } = await zipContent(archive);
  const files = await Promise.all(entries.map(async ({ path }): Promise<Packed> => [path, (await text(path)) ?? ""]));
  const made = Buffer.from(zipOf([...files, ["claims", ""]]));
  const others = files.reduce((sum, [, content]) => sum + Buffer.byteLength(content), 0);
  const entry = made.lastIndexOf("PK\x01\x02");
  // Compressed, since a file that is stored as it is must have one size.
  made.writeUInt16LE(8, entry + 10);
  made.writeUInt32LE(unpackedBytes - others, entry + 24);
  return made;
}

/** A Word document with a heading, marked words, a table and a list. */
export async function wordOf(text: string): Promise<Uint8Array> {
  const cell = (one: string) => new TableCell({ children: [new Paragraph(one)] });
  const row = (...cells: string[]) => new TableRow({ children: cells.map(cell) });
  const children = [
    new Paragraph({ text: "Contract", heading: HeadingLevel.HEADING_1 }),
    new Paragraph({ children: [new TextRun({ text: "bold", bold: true }), new TextRun(` ${text}`)] }),
    new Table({ rows: [row("Item", "Price|EUR"), row("Lamp", "12")] }),
    new Paragraph({ text: "first point", bullet: { level: 0 } }),
  ];
  return await Packer.toBuffer(new Document({ sections: [{ children }] }));
}

const relationship = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const relationships = (list: string) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list}</Relationships>`;

/** A presentation whose slides have these bodies (DrawingML shapes), in this order. */
export function slidesOf(slides: readonly string[], notes = ""): Uint8Array<ArrayBuffer> {
  const ids = slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${slides.length - at}"/>`).join("");
  const links = slides.map(
    (_, at) =>
      `<Relationship Id="rId${slides.length - at}" Type="${relationship}/slide" Target="slides/slide${at + 1}.xml"/>`,
  );
  const noted = `<Relationship Id="rId1" Type="${relationship}/notesSlide" Target="../notesSlides/notes1.xml"/>`;
  return zipOf([
    ["[Content_Types].xml", "<Types/>"],
    ["ppt/presentation.xml", `<p:presentation><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`],
    ["ppt/_rels/presentation.xml.rels", relationships(links.join(""))],
    ...slides.map((body, at): Packed => [`ppt/slides/slide${at + 1}.xml`, `<p:sld><p:cSld>${body}</p:cSld></p:sld>`]),
    ["ppt/slides/_rels/slide1.xml.rels", relationships(noted)],
    ["ppt/notesSlides/notes1.xml", `<p:notes>${shape(notes)}</p:notes>`],
  ]);
}

/** A shape of a slide with a line of text; `kind` is what it stands for, such as `title`. */
export function shape(text: string, kind = "body"): string {
  return `<p:sp><p:nvPr><p:ph type="${kind}"/></p:nvPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
}

/** A book with these chapters, as bodies of XHTML. */
export function bookOf(chapters: readonly string[]): Uint8Array<ArrayBuffer> {
  const items = chapters.map((_, at) => `<item id="c${at}" href="text/c${at}.xhtml"/>`).join("");
  const spine = chapters.map((_, at) => `<itemref idref="c${at}"/>`).join("");
  return zipOf([
    ["mimetype", "application/epub+zip"],
    ["META-INF/container.xml", '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'],
    [
      "OPS/book.opf",
      `<package><metadata><dc:title>A book</dc:title></metadata><manifest>${items}</manifest><spine>${spine}</spine></package>`,
    ],
    ...chapters.map((body, at): Packed => [`OPS/text/c${at}.xhtml`, `<html><body>${body}</body></html>`]),
  ]);
}
