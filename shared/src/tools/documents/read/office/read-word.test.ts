import { expect, test } from "bun:test";
import {
  CommentRangeEnd,
  CommentRangeStart,
  CommentReference,
  Document,
  Footer,
  Header,
  Packer,
  PageNumber,
  Paragraph,
  TextRun,
} from "docx";
import { makeWord } from "../../write/make-word.ts";
import { fitPieces } from "../fit-pieces.ts";
import type { Scans } from "../reading.ts";
import { zipContent } from "../zip-content.ts";
import { readWord } from "./read-word.ts";

const read = async (bytes: Uint8Array, scans: Scans) => {
  const reading = await readWord({ bytes, zip: await zipContent(bytes) }, scans);
  return await fitPieces(reading, { from: 0, characters: 10_000, pictures: 0 });
};

test("what was commented on a Word document is told where it belongs", async () => {
  const comment = { id: 0, author: "Bo", date: new Date(0), children: [new Paragraph("Too dear!")] };
  const children = [
    new CommentRangeStart(0),
    new TextRun("The price"),
    new CommentRangeEnd(0),
    new TextRun({ children: [new CommentReference(0)] }),
    new TextRun(" stays."),
  ];
  const made = new Document({
    comments: { children: [comment] },
    sections: [{ children: [new Paragraph({ children })] }],
  });
  const { text } = await read(await Packer.toBuffer(made), "show");
  expect(text).toMatch(/^The price\S+ stays\.[\s\S]*Too dear!/);
});

test("what stands above and below the pages of a Word document is told first, each text once", async () => {
  const header = new Header({ children: [new Paragraph("Offer\t117"), new Paragraph("")] });
  const until = new Paragraph({ children: [new TextRun("Valid "), new TextRun("until May, page "), pageNumber()] });
  const section = {
    headers: { default: header, first: header },
    footers: { default: new Footer({ children: [until] }) },
  };
  const made = new Document({ sections: [{ ...section, children: [new Paragraph("Dear Ms Lindt")] }] });
  const { text } = await read(await Packer.toBuffer(made), "show");
  expect(text).toBe("[page header: Offer 117]\n[page footer: Valid until May, page]\n\nDear Ms Lindt");
});

const pageNumber = () => new TextRun({ children: [PageNumber.CURRENT] });

test("the pictures of a Word document are named, and part of it only where it is to be drawn", async () => {
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const made = await makeWord({ html: `<h1>A</h1><p><img src="data:image/png;base64,${pixel}" alt="A plan"></p>` });
  for (const scans of ["show", "recognise", "name"] as const)
    expect(await read(made, scans)).toEqual({
      ...{ about: "Word document", text: "# A\n\n[picture: A plan]", pictures: [] },
      shown: { first: "text", last: "text" },
    });
  const drawn = await read(made, "draw");
  expect(drawn.html).toContain(`src="data:image/png;base64,${pixel}"`);
  expect(drawn.text).toBe("# A\n\n[picture: A plan]");
});
