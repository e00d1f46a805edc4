import { AppError } from "../../core/errors.ts";
import type { FilePatch, HunkLine, Read } from "./patch.ts";

const searchMark = /^<{5,9} SEARCH\s*$/;
const divider = /^={5,9}\s*$/;
const replaceMark = /^>{5,9} REPLACE\s*$/;

/**
 * Reads the search/replace block that begins at this line, if one does. The file's name is on the line before it, code fences aside, or
 * else that of the block before. An empty search part makes a new file.
 */
export function parseSearchBlock(
  lines: readonly string[],
  at: number,
  former: string | undefined,
): Read<FilePatch> | undefined {
  if (!searchMark.test(lines[at] ?? "")) return undefined;
  const path = nameBefore(lines, at) ?? former;
  if (path === undefined)
    throw new AppError("invalid_input", `Line ${at + 1}: the line before a search block must name the file.`);
  const middle = find(lines, at + 1, divider, at, "=======");
  const end = find(lines, middle + 1, replaceMark, at, ">>>>>>> REPLACE");
  const wanted = lines.slice(at + 1, middle);
  const removed: HunkLine[] = wanted.map((text) => ({ op: "-", text }));
  const added: HunkLine[] = lines.slice(middle + 1, end).map((text) => ({ op: "+", text }));
  const kind = wanted.every((line) => line.trim() === "") ? "create" : "update";
  const hunk = { line: undefined, lines: kind === "create" ? added : [...removed, ...added] };
  return { value: { kind, path, hunks: [hunk] }, next: end + 1 };
}

function nameBefore(lines: readonly string[], at: number): string | undefined {
  const before = lines.slice(Math.max(0, at - 3), at).filter((line) => line.trim() !== "" && !line.startsWith("```"));
  const name = before.at(-1)?.trim();
  return name === undefined || replaceMark.test(name) ? undefined : name.replaceAll(/^[#`*\s]+|[`*:\s]+$/g, "");
}

function find(lines: readonly string[], from: number, mark: RegExp, block: number, shown: string): number {
  const found = lines.findIndex((line, index) => index >= from && mark.test(line));
  if (found === -1)
    throw new AppError("invalid_input", `The search block at line ${block + 1} has no line "${shown}".`);
  return found;
}
