import type { DocumentPiece, Reading } from "./reading.ts";

/** Characters shown on either side of what was found. */
const around = 240;

/**
 * The same document with nothing but the passages that hold a text, whatever its case and white
 * space. Each begins with where it stands: its piece, and the characters before it there.
 */
export function findPassages({ about, pieces }: Reading, wanted: string): Reading {
  return { about, pieces: passagesOf(pieces, wanted), isSearched: true };
}

async function* passagesOf(pieces: Reading["pieces"], wanted: string): AsyncGenerator<DocumentPiece> {
  const pattern = new RegExp(wanted.trim().split(/\s+/).map(escaped).join("\\s+"), "giu");
  let [found, unread] = [0, 0];
  for await (const piece of pieces) {
    if (piece.isUnread === true) unread++;
    const passages = windows(piece.text, pattern).map((window) => passage(piece, window));
    if (passages.length > 0) yield { label: piece.label, at: piece.at, text: passages.join("\n") };
    found += passages.length;
  }
  const notes = [
    ...(found === 0 ? [`(“${wanted}” is not in it.)`] : []),
    ...(unread === 0 ? [] : [`(Pages without text, which are pictures or scans, were not searched: ${unread}.)`]),
  ];
  if (notes.length > 0) yield { label: "text", at: "", text: notes.join("\n") };
}

function escaped(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** A stretch of a text around what was found first and last in it. */
type Window = { readonly from: number; readonly first: number; last: number; to: number };

/** Where in a text something is found, with what is around it; those that touch are one. */
function windows(text: string, pattern: RegExp): Window[] {
  const all: Window[] = [];
  for (const { index, 0: match } of text.matchAll(pattern)) {
    const last = index + match.length;
    const [from, to] = [Math.max(0, index - around), Math.min(text.length, last + around)];
    const before = all.at(-1);
    if (before !== undefined && from <= before.to) Object.assign(before, { last, to });
    else all.push({ from, first: index, last, to });
  }
  return all;
}

/** Cut between words; the beginning of a piece that names itself needs no other sign. */
function passage({ label, text }: DocumentPiece, { from, first, last, to }: Window): string {
  const begin = from === 0 ? 0 : from + text.slice(from, first).search(/\s\S/) + 1;
  const gap = text.slice(last, to).search(/\s\S*$/);
  const end = to === text.length || gap === -1 ? to : last + gap;
  const place = [...(label === "text" ? [] : [label]), ...(begin === 0 ? [] : [`from ${begin}`])].join(", ");
  const cut = text.slice(begin, end).toWellFormed().trim();
  const shown = `${begin === 0 ? "" : "…"}${cut}${end === text.length ? "" : "…"}\n`;
  return place === "" || text.startsWith(`[${place}]`) ? shown : `[${place}]\n${shown}`;
}
