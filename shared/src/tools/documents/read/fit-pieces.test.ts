import { expect, test } from "bun:test";
import { fitPieces, oneMarkdown, oneText } from "./fit-pieces.ts";
import type { DocumentPiece } from "./reading.ts";

/** Pages with these texts; a text in capitals has a picture. */
function* pages(texts: readonly string[], first: number): Generator<DocumentPiece> {
  for (const [at, text] of texts.entries()) {
    const number = at + 1;
    if (number < first) continue;
    const picture = { mediaType: "image/jpeg", data: "" } as const;
    const isPicture = text !== "" && text === text.toUpperCase();
    yield { label: `page ${number}`, at: `${number}-${texts.length}`, text, ...(isPicture && { picture }) };
  }
}

/** What every call shows, when each goes on as the one before says. */
async function readOn(texts: readonly string[], characters: number, pictures = 4): Promise<string[]> {
  const shown: string[] = [];
  let next: { readonly part: string; readonly from?: number | undefined } | undefined = { part: "1-" };
  while (next !== undefined && shown.length < 50) {
    const pieces = pages(texts, Number.parseInt(next.part, 10));
    const extract = await fitPieces({ about: "x", pieces }, { from: next.from ?? 0, characters, pictures });
    shown.push(extract.text);
    next = extract.next;
  }
  return shown;
}

test("pieces are shown until the next does not fit, and going on shows each once", async () => {
  expect(await readOn(["aaaa", "bbbb", "cccc"], 10)).toEqual(["aaaa\nbbbb", "cccc"]);
  expect(await readOn(["aaaa", "bbbb", "cccc"], 100)).toEqual(["aaaa\nbbbb\ncccc"]);
  expect(await readOn([], 10)).toEqual([""]);
});

test("a piece longer than the budget is cut at the end of a line or a character, and nothing is lost", async () => {
  expect(await readOn(["one two\nthree", "z"], 10)).toEqual(["one two\n", "three\nz"]);
  expect(await readOn(["abcdefghijklmnopqrstuvwxyz"], 10)).toEqual(["abcdefghij", "klmnopqrst", "uvwxyz"]);
  const emoji = await readOn(["😀".repeat(20)], 9);
  expect(emoji.join("")).toBe("😀".repeat(20));
  expect(emoji.every((text) => text.isWellFormed())).toBe(true);
});

test("the line between two pieces has its room, and a piece that just fits is shown", async () => {
  expect(await readOn(["aaaa", "bbbb"], 9)).toEqual(["aaaa\nbbbb"]);
  expect(await readOn(["aaaa", "bbbb"], 8)).toEqual(["aaaa", "bbbb"]);
  expect(await readOn(["aaaa", "bbbb"], 4)).toEqual(["aaaa", "bbbb"]);
});

test("a cut is at the end of a line only where that keeps half of what there is room for", async () => {
  expect(await readOn(["abcd\nefghijklm"], 8)).toEqual(["abcd\n", "efghijkl", "m"]);
  expect(await readOn(["abc\ndefghijklm"], 8)).toEqual(["abc\ndefg", "hijklm"]);
});

test("what can be drawn of a document is handed on, beside its text", async () => {
  const fit = (html?: string) =>
    fitPieces(
      { about: "x", pieces: pages(["a"], 1), ...(html !== undefined && { html }) },
      { from: 0, characters: 9, pictures: 0 },
    );
  expect((await fit("<p>a</p>")).html).toBe("<p>a</p>");
  expect(await fit()).not.toHaveProperty("html");
});

/** Chapters of 100 characters each, and what is shown of their beginning. */
const beginningOf = (chapters: number, characters: number, text = "x".repeat(99)) =>
  fitPieces(
    {
      about: "x",
      pieces: pages(Array(chapters).fill(`${text}\n`), 1),
      extent: { pieces: chapters, outline: async () => "- A: page 7\n" },
    },
    { from: 0, characters, pictures: 4, beginning: 250 },
  );

test("of a document that takes more than three answers the beginning is shorter, behind its outline", async () => {
  const long = await beginningOf(31, 1_000);
  expect(long.text).toBe(`Outline:\n- A: page 7\n\n${"x".repeat(99)}\n\n${"x".repeat(99)}\n`);
  expect([long.shown, long.next, long.about]).toEqual([{ first: "page 1", last: "page 2" }, { part: "3-31" }, "x"]);
  for (const chapters of [30, 9]) {
    const { text } = await beginningOf(chapters, 1_000);
    expect(text.length).toBeGreaterThan(800);
    expect(text).not.toContain("Outline");
  }
});

test("of a long text it is said how long it is, and its headings are told with where they begin", async () => {
  const text = `# One\n\n${"word ".repeat(100)}\n\n## Two\n\n${"word ".repeat(100)}\n\n### Of three\n\n# Four\n`;
  const budget = { from: 0, characters: 300, pictures: 4, beginning: 50 };
  const { about, text: shown, next } = await fitPieces(oneMarkdown("Word document", text), budget);
  const [two, three, four] = ["## Two", "### Of", "# Four"].map((heading) => text.indexOf(`\n${heading}`) + 1);
  expect(about).toBe(`Word document, ${text.length} characters`);
  expect(shown).toStartWith(
    `Outline:\n- One: from 0\n  - Two: from ${two}\n    - Of three: from ${three}\n- Four: from ${four}\n\n# One\n\nword`,
  );
  expect(next?.from).toBeLessThan(60);
  expect((await fitPieces(oneText("Text", "# no heading\n".repeat(90)), budget)).text).toStartWith("# no heading\n#");
});

test("a call shows no more pictures than allowed", async () => {
  expect(await readOn(["A", "B", "c", "D"], 100, 2)).toEqual(["A\nB\nc", "D"]);
});
