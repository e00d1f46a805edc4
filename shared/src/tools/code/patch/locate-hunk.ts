import { AppError } from "../../../core/errors.ts";
import { counted } from "../../../core/text/counted.ts";
import { type Hunk, oldLines } from "./patch.ts";

/**
 * Where a hunk's old text is: the index of its first line, and the differences that were ignored to
 * find it.
 */
export type HunkPlace = { readonly index: number; readonly notes: readonly string[] };

const ways = [
  { same: (a: string, b: string) => a === b, note: undefined },
  { same: (a: string, b: string) => a.trimEnd() === b.trimEnd(), note: "white space at line ends differs" },
  { same: (a: string, b: string) => a.trim() === b.trim(), note: "indentation differs: check the lines added" },
] as const;

/**
 * Finds a hunk in the lines of a file, exactly if possible, else with different white space.
 * `expected` is the index where it should be, undefined when the patch does not say. Throws
 * `conflict`, worded for the model: what is there instead, or that the place is ambiguous.
 */
export function locateHunk(
  lines: readonly string[],
  hunk: Hunk,
  expected: number | undefined,
  name: string,
): HunkPlace {
  const wanted = oldLines(hunk);
  if (wanted.length === 0) return { index: insertionIndex(lines, hunk, expected, name), notes: [] };
  for (const { same, note } of ways) {
    const found = indexesOf(lines, wanted, same);
    const index = choose(found, expected, name, note === ways[2].note);
    if (index === undefined) continue;
    const offset = expected === undefined ? 0 : index - expected;
    const moved =
      offset === 0 ? [] : [`found ${counted(Math.abs(offset), "line")} further ${offset > 0 ? "down" : "up"}`];
    return { index, notes: [...moved, ...(note === undefined ? [] : [note])] };
  }
  throw new AppError("conflict", whatStandsThere(lines, wanted, expected, name));
}

function insertionIndex(lines: readonly string[], { line }: Hunk, expected: number | undefined, name: string): number {
  // A hunk without old lines names the line that it follows.
  const index = line === undefined || expected === undefined ? undefined : expected + 1;
  if (lines.length === 0) return 0;
  if (index === undefined || index > lines.length)
    throw new AppError("conflict", `${name} only adds lines and does not say where. Add lines that stand around them.`);
  return index;
}

function choose(
  found: readonly number[],
  expected: number | undefined,
  name: string,
  onlyOne: boolean,
): number | undefined {
  const away = (index: number) => Math.abs(index - (expected ?? 0));
  const [nearest, next] = found.toSorted((a, b) => away(a) - away(b));
  const isTie = nearest !== undefined && next !== undefined && away(nearest) === away(next);
  if (found.length > 1 && (expected === undefined || onlyOne || isTie)) {
    const places = found.slice(0, 10).map((index) => index + 1);
    throw new AppError(
      "conflict",
      `${name} fits in several places, at lines ${places.join(", ")}. Add lines around it.`,
    );
  }
  return nearest;
}

function indexesOf(
  lines: readonly string[],
  wanted: readonly string[],
  same: (a: string, b: string) => boolean,
): number[] {
  const found: number[] = [];
  for (let index = 0; index + wanted.length <= lines.length; index++)
    if (wanted.every((line, offset) => same(lines[index + offset] ?? "", line))) found.push(index);
  return found;
}

const shownLines = 12;

function whatStandsThere(
  lines: readonly string[],
  wanted: readonly string[],
  expected: number | undefined,
  name: string,
): string {
  if (lines.length === 0) return `${name} does not fit: the file is empty. Nothing was changed.`;
  const part = partOf(lines, wanted);
  if (part !== undefined) return `${name} does not fit: ${part} Nothing was changed.`;
  const near = closest(lines, wanted, expected ?? 0);
  const differing = wanted.findIndex((line, offset) => lines[near + offset]?.trim() !== line.trim());
  const from = Math.max(0, near - 1);
  const there = lines.slice(from, from + Math.min(shownLines, wanted.length + 2));
  const numbered = there.map((line, offset) => `${String(from + offset + 1).padStart(6)}\t${line.slice(0, 200)}`);
  return [
    `${name} does not fit: its line ${JSON.stringify((wanted[differing] ?? wanted[0] ?? "").slice(0, 200))} is not where it should be. Nothing was changed. The closest place in the file:`,
    ...numbered,
  ].join("\n");
}

/** Where the wanted text is there as parts of lines: at the end of one, or the beginning. */
function partOf(lines: readonly string[], wanted: readonly string[]): string | undefined {
  const [only = "", ...more] = wanted;
  if (more.length > 0 || only.trim() === "") return undefined;
  const [found, ...others] = lines.flatMap((line, at) => (line.includes(only.trim()) ? [at + 1] : []));
  if (found === undefined || others.length > 0) return undefined;
  return `${JSON.stringify(only.slice(0, 200))} is only a part of line ${found}, and a patch takes whole lines: ${JSON.stringify((lines[found - 1] ?? "").slice(0, 400))}.`;
}

/**
 * The index at which most of the wanted lines match; among equals, the one nearest to `expected`.
 */
function closest(lines: readonly string[], wanted: readonly string[], expected: number): number {
  const sample = wanted.slice(0, 40).map((line) => line.trim());
  const trimmed = lines.map((line) => line.trim());
  let best = { index: Math.min(expected, lines.length - 1), hits: 0 };
  for (let index = 0; index < trimmed.length; index++) {
    const hits = sample.filter((line, offset) => line !== "" && trimmed[index + offset] === line).length;
    const nearer = Math.abs(index - expected) < Math.abs(best.index - expected);
    if (hits > best.hits || (hits === best.hits && hits > 0 && nearer)) best = { index, hits };
  }
  return best.index;
}
