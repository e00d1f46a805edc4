import { expect, test } from "bun:test";
import { findPassages } from "./find-passages.ts";
import { fitPieces, oneText } from "./fit-pieces.ts";
import type { DocumentPiece, Reading } from "./reading.ts";

const all = { from: 0, characters: 10_000, pictures: 4 };

/** What is shown of the document. */
async function found(reading: Reading, wanted: string | readonly string[], budget: Partial<typeof all> = {}) {
  return await fitPieces(await findPassages(reading, [wanted].flat()), { ...all, ...budget });
}

/** Numbered pages, as a PDF has them; one without text is a scan. */
function pages(...texts: readonly string[]): Reading {
  const pieces = texts.map((text, at): DocumentPiece => {
    const [number, isUnread] = [at + 1, text === ""];
    const piece = { label: `page ${number}`, at: `${number}-${texts.length}`, text: `[page ${number}]\n${text}\n` };
    return isUnread ? { ...piece, isUnread } : piece;
  });
  return { about: "PDF", pieces };
}

const filler = (words: number) => "word ".repeat(words);

test("only the pieces that hold it are shown, each with where it stands", async () => {
  const { text, shown, places, about } = await found(pages("No.", "A fee of 5.", "None.", "The FEE is due."), "fee");
  expect(text).toBe("[page 2]\nA fee of 5.\n\n[page 4]\nThe FEE is due.\n");
  expect({ about, shown, places }).toEqual({ about: "PDF", shown: undefined, places: ["page 2", "page 4"] });
});

test("of a long piece what is around it is shown, cut between words, with the characters before it", async () => {
  const text = `${filler(200)}Late fees apply. ${filler(200)}`;
  const { text: shown } = await found(oneText("Text", text), "late fees");
  const [, from, passage = ""] = /^\[from (\d+)\]\n…(.*)…\n$/.exec(shown) ?? [];
  expect(text.slice(Number(from)).startsWith(passage)).toBe(true);
  expect(passage).toMatch(/^(word )+Late fees apply\.( word)+$/);
  expect(passage.length).toBeLessThan(500);
  const onPage = await found(pages("x", text), "late fees");
  expect(onPage.text).toMatch(/^\[page 2, from \d+\]\n…word .*Late fees/);
});

test("in a text without spaces no cut leaves out what was found", async () => {
  const line = `${"字".repeat(400)}费用${"字".repeat(100)} ${"字".repeat(300)}`;
  const { text } = await found(oneText("Text", line), "费用");
  expect(text).toBe(`[from 160]\n…${"字".repeat(240)}费用${"字".repeat(100)}…\n`);
});

test("passages that touch are one, and others are apart", async () => {
  const near = `${filler(100)}fee ${filler(40)}fee ${filler(300)}fee ${filler(100)}`;
  const { text } = await found(oneText("Text", near), "fee");
  expect(text.match(/^\[from/gm)).toHaveLength(2);
  expect(text.match(/fee/g)).toHaveLength(3);
});

test.each([
  ["annual  report", "the Annual\nReport of", true],
  ["a.b (c)", "see A.B (C) there", true],
  ["12. May 2025", "of **12\\. May** *2025*", true],
  ["13.09.2025", "on **Friday, 13.*09.2025***", true],
  ["file_name", "the file\\_name", true],
  ["2*3", "is 2*3.", true],
  ["2\\3", "is 2\\3.", true],
  ["2*3", "is 2.3", false],
  ["a.b", "axb", false],
  ["1-2/3|4", "is 1-2/3|4.", true],
  ["Straße", "STRAẞE 5", true],
  ["ГОД", "за год", true],
])("%j in %j is found: %j, whatever its case, white space and signs", async (wanted, text, isThere) => {
  expect((await found(oneText("Text", text), wanted)).text === `${text}\n`).toBe(isThere);
});

test("what is nowhere is said, and how many pages could not be searched", async () => {
  expect((await found(pages("One.", "", "Two.", ""), "fee")).text).toBe(
    "(“fee” is not in it.)\n(Pages without text, which are pictures or scans, were not searched: 2.)",
  );
  const one = await found(pages("A fee.", ""), "fee");
  expect(one.text).toEndWith("were not searched: 1.)");
  expect(one.places).toEqual(["page 1"]);
  expect((await found(pages("A fee.", "No."), "fee")).text).not.toContain("(");
});

test("of several texts the passages come in their order, and each text has its number of places, also in what does not fit", async () => {
  const document = pages("A late fee.", "A rent, and a fee.", "No.", "The fee, the FEE.");
  const { text, found: counts, places } = await found(document, ["rent", "late fee", "fee", "tax"]);
  expect(text).toBe("[page 1]\nA late fee.\n\n[page 2]\nA rent, and a fee.\n\n[page 4]\nThe fee, the FEE.\n");
  expect(counts).toEqual([1, 1, 4, 0]);
  expect(places).toEqual(["page 1", "page 2", "page 4"]);
  const cut = await found(document, ["fee", "rent"], { characters: 30 });
  expect([cut.places, cut.found, cut.next]).toEqual([["page 1"], [4, 1], { part: "2-4" }]);
  const inside = await found(oneText("Text", `A late fee ok${"y".repeat(400)}`), ["late fee ok", "fee"]);
  expect(inside.text).toStartWith("A late fee okyyy");
  const none = await found(document, ["tax", "levy"]);
  expect([none.text, none.found]).toEqual(["(None of these texts is in it.)", [0, 0]]);
});

test("what does not fit is found by going on with the part that is named", async () => {
  const document = pages(...Array.from({ length: 9 }, (_, at) => `A fee of ${at}.`));
  const first = await found(document, "fee", { characters: 60 });
  expect(first.text).toContain("A fee of 1.");
  expect(first.next).toEqual({ part: "3-9" });
});

test("a search for signs that are marks as well ends at once", async () => {
  const begun = performance.now();
  const { text } = await found(oneText("Text", `${"*".repeat(150)}\n`.repeat(200)), "*".repeat(200));
  expect(text).toContain("is not in it");
  expect(performance.now() - begun).toBeLessThan(5_000);
});
