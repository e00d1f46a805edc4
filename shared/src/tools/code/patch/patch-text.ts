import { splice, withPlainEndings } from "../../files/line-endings.ts";
import { locateHunk } from "./locate-hunk.ts";
import { type FilePatch, type Hunk, oldLines } from "./patch.ts";

/** A text with a patch applied, and the differences that were ignored to apply it. */
export type PatchedText = { readonly text: string; readonly notes: readonly string[] };

/**
 * Applies all hunks of a file's patch to its text, in the text's own line endings. Throws as
 * `locateHunk` does.
 */
export function patchText(text: string, { path, hunks }: Pick<FilePatch, "path" | "hunks">): PatchedText {
  let patched = text;
  let shift = 0;
  const notes: string[] = [];
  for (const [number, hunk] of hunks.entries()) {
    const name = hunks.length === 1 ? `The hunk for ${path}` : `Hunk ${number + 1} of ${hunks.length} for ${path}`;
    const { lines, starts, plain } = linesOf(patched);
    const expected = hunk.line === undefined ? undefined : Math.max(0, hunk.line - 1 + shift);
    const place = locateHunk(lines, hunk, expected, name);
    const wanted = oldLines(hunk).length;
    const end = place.index + wanted;
    const kept = newLines(hunk, lines, place.index);
    const start = starts[place.index] ?? plain.length;
    patched = splice(
      patched,
      start,
      starts[end] ?? plain.length,
      replacement(kept, hunk, plain, start, end >= lines.length),
    );
    shift += kept.length - wanted + (wanted === 0 || expected === undefined ? 0 : place.index - expected);
    notes.push(...place.notes.map((note) => (hunks.length === 1 ? note : `hunk ${number + 1} ${note}`)));
  }
  return { text: patched, notes };
}

/** The text that a patch gives a new file. */
export function createdText({ hunks }: Pick<FilePatch, "hunks">): string {
  const lines = hunks.flatMap((hunk) => hunk.lines.filter(({ op }) => op === "+").map(({ text }) => text));
  const bare = hunks.at(-1)?.lastLine?.bareAfter ?? false;
  return lines.length === 0 ? "" : lines.join("\n") + (bare ? "" : "\n");
}

function linesOf(text: string) {
  const plain = withPlainEndings(text);
  const lines = plain.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  return { plain, lines, starts };
}

/**
 * The lines after the hunk is applied: kept lines as the file has them, because the patch may have
 * them with different white space.
 */
function newLines({ lines }: Hunk, there: readonly string[], index: number): string[] {
  let at = index;
  const kept: string[] = [];
  for (const { op, text } of lines) {
    if (op === "+") kept.push(text);
    else {
      if (op === " ") kept.push(there[at] ?? text);
      at++;
    }
  }
  return kept;
}

function replacement(kept: readonly string[], hunk: Hunk, plain: string, start: number, last: boolean): string {
  const text = kept.map((line) => `${line}\n`).join("");
  if (!last || text === "") return text;
  const bareNow = plain !== "" && !plain.endsWith("\n");
  const bare = hunk.lastLine?.bareAfter ?? (bareNow && !hunk.lastLine?.bareBefore);
  const before = bareNow && start === plain.length ? "\n" : "";
  return before + (bare ? text.slice(0, -1) : text);
}
