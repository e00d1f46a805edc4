import type { DocumentExtract, Picture } from "../document-protocol.ts";
import { markdownHeadings, outlineText } from "./outline.ts";
import type { DocumentPiece, Reading } from "./reading.ts";

/** How much of a document is wanted: `from` skips characters of the first piece. */
export type Budget = {
  readonly from: number;
  readonly characters: number;
  readonly pictures: number;
  /** The characters instead, of a document that is many times as long. */
  readonly beginning?: number | undefined;
};

/** A document that takes more answers than this is not read from its first page to its last. */
const maxAnswers = 3;

/**
 * The pieces that fit into a budget, and where to go on. Only a first piece that is longer than the
 * budget is cut, at the end of a line where there is one. Of a long document only the beginning is
 * shown if the budget has one: its first pages say little, its outline more.
 */
export async function fitPieces(reading: Reading, budget: Budget): Promise<DocumentExtract> {
  const { beginning, ...usual } = budget;
  const read: DocumentPiece[] = [];
  const fitted = await fit({ ...reading, pieces: remembered(reading.pieces, read) }, usual);
  const { extent } = reading;
  if (beginning === undefined || extent === undefined || fitted.next === undefined) return fitted;
  const length = read.reduce((sum, { text }) => sum + text.length, 0);
  const average = length / new Set(read.map(({ label }) => label)).size;
  if (average * extent.pieces <= maxAnswers * usual.characters) return fitted;
  const begun = await fit({ ...reading, pieces: read }, { ...usual, characters: beginning });
  const outline = await extent.outline();
  return {
    ...begun,
    ...(extent.pieces === 1 && { about: `${begun.about}, ${length} characters` }),
    ...(outline !== "" && { text: `Outline:\n${outline}\n${begun.text}` }),
  };
}

async function* remembered(pieces: Reading["pieces"], read: DocumentPiece[]): AsyncGenerator<DocumentPiece> {
  for await (const piece of pieces) {
    read.push(piece);
    yield piece;
  }
}

async function fit({ about, pieces, html, found }: Reading, budget: Budget): Promise<DocumentExtract> {
  const texts: string[] = [];
  const pictures: Picture[] = [];
  const labels: string[] = [];
  let [room, skip] = [budget.characters, budget.from];
  const result = (next?: DocumentExtract["next"]): DocumentExtract => ({
    about,
    text: texts.join("\n"),
    pictures,
    ...(html !== undefined && { html }),
    ...(found !== undefined
      ? { places: labels.filter((label) => label !== "text"), found: [...found] }
      : labels[0] !== undefined && { shown: { first: labels[0], last: labels.at(-1) ?? labels[0] } }),
    ...(next && { next }),
  });
  for await (const piece of pieces) {
    const text = piece.text.slice(skip);
    const isFull = text.length > room || (piece.picture !== undefined && pictures.length >= budget.pictures);
    if (isFull && labels.length > 0) return result({ part: piece.at });
    labels.push(piece.label);
    if (piece.picture !== undefined) pictures.push(piece.picture);
    const shown = text.length > room ? cutText(text, room) : text;
    texts.push(shown);
    if (shown.length < text.length) return result({ part: piece.at, from: skip + shown.length });
    room -= shown.length + 1;
    skip = 0;
  }
  return result();
}

/**
 * The beginning of a text up to the end of a line, if that keeps at least half; whole characters.
 */
function cutText(text: string, characters: number): string {
  const start = text.slice(0, characters);
  const end = start.lastIndexOf("\n");
  return end >= characters / 2 ? start.slice(0, end + 1) : start.replace(/[\uD800-\uDBFF]$/, "");
}

/** A document that is one text. */
export function oneText(about: string, text: string): Reading {
  const pieces: DocumentPiece[] = [{ label: "text", at: "", text }];
  return { about, pieces, extent: { pieces: 1, outline: async () => "" } };
}

/** The same of a Markdown text, with its headings. */
export function oneMarkdown(about: string, text: string): Reading {
  return { ...oneText(about, text), extent: { pieces: 1, outline: () => outlineText(markdownHeadings(text)) } };
}
