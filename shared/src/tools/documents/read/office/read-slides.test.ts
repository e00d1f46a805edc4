import { expect, test } from "bun:test";
import { shape, zipOf } from "../../../../testing/documents.ts";
import { fitPieces } from "../fit-pieces.ts";
import { zipContent } from "../zip-content.ts";
import { readSlides } from "./read-slides.ts";

/** What a presentation of one slide with these shapes says, and these notes. */
async function read(slide: string, notes = "") {
  const bytes = zipOf([
    ["ppt/presentation.xml", '<p:presentation><p:sldId r:id="a"/></p:presentation>'],
    ["ppt/_rels/presentation.xml.rels", '<x><Relationship Id="a" Type="t/slide" Target="s/1.xml"/></x>'],
    ["ppt/s/1.xml", `<p:sld>${slide}</p:sld>`],
    [
      "ppt/s/_rels/1.xml.rels",
      '<x><Relationship Id="l" Type="t/slideLayout" Target="../l.xml"/><Relationship Id="n" Type="t/notesSlide" Target="../n.xml"/></x>',
    ],
    ["ppt/n.xml", `<p:notes>${notes}</p:notes>`],
    ["ppt/l.xml", `<p:sldLayout>${shape("layout")}</p:sldLayout>`],
  ]);
  const reading = await readSlides({ bytes, zip: await zipContent(bytes) }, undefined);
  return (await fitPieces(reading, { from: 0, characters: 10_000, pictures: 0 })).text;
}

test("of notes their words are told, without pictures, numbers and headings", async () => {
  const notes = `<p:pic/>${shape("Say", "title")}${shape("5", "sldNum")}${shape("and wait")}`;
  expect(await read(shape("A"), notes)).toBe("[slide 1]\nA\n\nNotes: Say\nand wait\n");
  expect(await read(shape("A"))).toBe("[slide 1]\nA\n");
});

test("what is grouped is told too, lists as deep as eight levels, and cells with all their lines", async () => {
  const line = (level: number, text: string) => `<a:p><a:pPr lvl="${level}"/><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const list = `<p:sp><p:txBody>${line(0, "top")}${line(8, "deep")}${line(99, "deeper")}<a:p/></p:txBody></p:sp>`;
  const cell = `<a:tc><a:txBody>${line(0, "one")}${line(0, "two")}</a:txBody></a:tc>`;
  const table = `<p:graphicFrame><a:tbl><a:tr>${cell}</a:tr></a:tbl></p:graphicFrame>`;
  const eight = " ".repeat(16);
  expect(await read(`<p:grpSp>${list}</p:grpSp>${table}`)).toBe(
    `[slide 1]\ntop\n${eight}- deep\n${eight}- deeper\n\n| one<br>two |\n| --- |\n`,
  );
});
