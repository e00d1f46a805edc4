import type { DocumentPiece, Reading } from "./reading.ts";

/** Characters shown on either side of what was found. */
const around = 240;

/**
 * The same document with nothing but the passages that hold one of these texts, whatever their case
 * and white space. Each begins with where it stands: its piece, and the characters before it there.
 * All of it is read, so that it can be told how often each text is in it.
 */
export async function findPassages({ about, pieces }: Reading, wanted: readonly string[]): Promise<Reading> {
  const patterns = wanted.map(patternOf);
  const found = wanted.map(() => 0);
  const passages: DocumentPiece[] = [];
  let unread = 0;
  for await (const piece of pieces) {
    if (piece.isUnread === true) unread++;
    const each = patterns.map((pattern) => windows(piece.text, pattern));
    for (const [at, { count }] of each.entries()) found[at] = (found[at] ?? 0) + count;
    const shown = joined(each.flatMap(({ all }) => all)).map((window) => passage(piece, window));
    if (shown.length > 0) passages.push({ label: piece.label, at: piece.at, text: shown.join("\n") });
  }
  const notes = [
    ...(passages.length > 0 ? [] : [wanted.length === 1 ? `(“${wanted[0]}” is not in it.)` : noneFound]),
    ...(unread === 0 ? [] : [`(Pages without text, which are pictures or scans, were not searched: ${unread}.)`]),
  ];
  if (notes.length > 0) passages.push({ label: "text", at: "", text: notes.join("\n") });
  return { about, pieces: passages, found };
}

const noneFound = "(None of these texts is in it.)";

/** What Markdown puts before signs, and between letters where their look changes. */
const marks = "[\\\\*]*";

function patternOf(wanted: string): RegExp {
  return new RegExp(wanted.trim().split(/\s+/).map(escaped).join(`${marks}\\s+${marks}`), "giu");
}

/** Beside a sign that is a mark itself none is taken, since a search would then try every way. */
function escaped(word: string): string {
  const signs = [...word].map((sign) => sign.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&"));
  const isMark = (sign: string | undefined) => sign === "\\*" || sign === "\\\\";
  return signs.map((sign, at) => (at === 0 || isMark(sign) || isMark(signs[at - 1]) ? sign : marks + sign)).join("");
}

/** A stretch of a text around what was found first and last in it. */
type Window = { readonly from: number; readonly first: number; readonly last: number; readonly to: number };

/** Where in a text something is found, with what is around it, and how often. */
function windows(text: string, pattern: RegExp): { readonly all: readonly Window[]; readonly count: number } {
  const all: Window[] = [];
  let count = 0;
  for (const { index, 0: match } of text.matchAll(pattern)) {
    count++;
    const last = index + match.length;
    add(all, { from: Math.max(0, index - around), first: index, last, to: Math.min(text.length, last + around) });
  }
  return { all, count };
}

/** The same in the order of the text. */
function joined(windows: readonly Window[]): Window[] {
  const all: Window[] = [];
  for (const window of windows.toSorted((one, other) => one.from - other.from || one.first - other.first))
    add(all, window);
  return all;
}

/** Adds the next one; those that touch are one. */
function add(all: Window[], next: Window): void {
  const before = all.at(-1);
  if (before === undefined || next.from > before.to) all.push(next);
  else
    all[all.length - 1] = {
      from: before.from,
      first: Math.min(before.first, next.first),
      last: Math.max(before.last, next.last),
      to: Math.max(before.to, next.to),
    };
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
