import { expect, test } from "bun:test";
import { zipOf } from "../../../../testing/documents.ts";
import { fitPieces } from "../fit-pieces.ts";
import { zipContent } from "../zip-content.ts";
import { readOdt } from "./read-odt.ts";

test("what stands above and below the pages of an open text is told first, each text once", async () => {
  const edges = `<style:header><text:p>Offer 117</text:p></style:header><style:header-first><text:p>First</text:p></style:header-first>
    <style:footer><text:p>Page <text:page-number>1</text:page-number></text:p><text:p/></style:footer>`;
  const bytes = zipOf([
    ["content.xml", "<office:text><text:p>Dear Ms Lindt</text:p></office:text>"],
    [
      "styles.xml",
      `<x><style:master-page>${edges}</style:master-page><style:master-page>${edges}</style:master-page></x>`,
    ],
  ]);
  const reading = await readOdt({ bytes, zip: await zipContent(bytes) });
  const { text } = await fitPieces(reading, { from: 0, characters: 1000, pictures: 0 });
  expect(text).toBe("[page header: Offer 117]\n[page header: First]\n[page footer: Page 1]\n\nDear Ms Lindt");
});
