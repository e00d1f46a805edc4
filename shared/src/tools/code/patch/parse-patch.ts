import { AppError } from "../../../core/errors.ts";
import { withPlainEndings } from "../../files/line-endings.ts";
import type { FilePatch, Hunk, HunkLine, Read } from "./patch.ts";

/**
 * The files of a patch, in its order: unified diffs, as git writes them or with wrong line counts,
 * and search/replace blocks. Throws `invalid_input`, naming the line, for anything else.
 */
export function parsePatch(patch: string): FilePatch[] {
  const lines = withPlainEndings(patch).replace(/\n$/, "").split("\n");
  const files: FilePatch[] = [];
  let at = 0;
  while (at < lines.length) {
    refuseUnsupported(lines[at] ?? "");
    const read =
      parseGitHeader(lines, at) ?? parseUnifiedFile(lines, at) ?? parseSearchBlock(lines, at, files.at(-1)?.path);
    if (read !== undefined) files.push(read.value);
    at = read?.next ?? at + 1;
  }
  if (files.length === 0)
    throw new AppError(
      "invalid_input",
      "There is no patch in this: neither a unified diff (--- a/file, +++ b/file, @@) nor a search/replace block.",
    );
  return files;
}

function refuseUnsupported(line: string): void {
  if (/^(rename|copy) (from|to) /.test(line))
    throw new AppError("unsupported", "Files are not renamed or copied by a patch here. Use bash for that.");
  if (line.startsWith("GIT binary patch") || /^Binary files .* differ$/.test(line))
    throw new AppError("unsupported", "Binary files cannot be patched here.");
}

/**
 * Reads git's header of a file in which no line changes: an empty file is created, or deleted.
 * Undefined when the lines do not start such a file. Throws `unsupported` when only permissions
 * change.
 */
function parseGitHeader(lines: readonly string[], at: number): Read<FilePatch> | undefined {
  const path = /^diff --git "?a\/(.+?)"? "?b\/\1"?$/.exec(lines[at] ?? "")?.[1];
  if (path === undefined) return undefined;
  let next = at + 1;
  while (/^(?:index|(?:new|deleted) file mode|(?:old|new) mode) /.test(lines[next] ?? "")) next++;
  if (/^(?:--- |Binary files |GIT binary patch)/.test(lines[next] ?? "")) return undefined;
  const header = lines.slice(at + 1, next);
  const says = (start: string) => header.some((line) => line.startsWith(start));
  if (says("new file mode ")) return { value: { kind: "create", path, hunks: [] }, next };
  if (says("deleted file mode ")) return { value: { kind: "delete", path, hunks: [] }, next };
  if (says("new mode "))
    throw new AppError("unsupported", `Permissions (of ${path}) are not changed by a patch here. Use bash for that.`);
  return undefined;
}

const nowhere = "/dev/null";
const hunkHeader = /^@@(?: -(\d+)(?:,(\d+))? \+\d+(?:,\d+)?)?(?: @@.*|\s*(?:@@)?\s*)$/;

/** Reads the unified diff of one file that starts at this line, if one does. */
function parseUnifiedFile(lines: readonly string[], at: number): Read<FilePatch> | undefined {
  if (!beginsFile(lines, at)) return undefined;
  const from = nameIn(lines[at] ?? "");
  const to = nameIn(lines[at + 1] ?? "");
  const hunks: Hunk[] = [];
  let next = at + 2;
  while (lines[next]?.startsWith("@@")) {
    const hunk = parseHunk(lines, next);
    hunks.push(hunk.value);
    next = hunk.next;
  }
  if (hunks.length === 0)
    throw new AppError("invalid_input", `Line ${at + 3}: a hunk (@@ … @@) must follow the names.`);
  const kind = from === nowhere ? "create" : to === nowhere ? "delete" : "update";
  return { value: { kind, path: kind === "delete" ? from : to, hunks }, next };
}

function beginsFile(lines: readonly string[], at: number): boolean {
  return (lines[at]?.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ")) ?? false;
}

/** The name after `---` or `+++`, without git's `a/` or `b/` and without a time stamp. */
function nameIn(line: string): string {
  const name = (line.slice(4).split("\t")[0] ?? "").trim();
  const plain = /^".*"$/.test(name) ? name.slice(1, -1) : name;
  return plain === nowhere ? plain : plain.replace(/^[ab]\//, "");
}

function parseHunk(lines: readonly string[], at: number): Read<Hunk> {
  const header = hunkHeader.exec(lines[at] ?? "");
  if (header === null) throw new AppError("invalid_input", `Line ${at + 1}: "${lines[at]}" is not a hunk header.`);
  const body: HunkLine[] = [];
  const bare = { "-": false, "+": false, " ": false };
  let next = at + 1;
  for (; next < lines.length && !endsHunk(lines, next); next++) {
    const line = lines[next] ?? "";
    if (line.startsWith("\\")) {
      bare[body.at(-1)?.op ?? " "] = true;
      continue;
    }
    const op = line === "" ? " " : line[0];
    if (op !== " " && op !== "-" && op !== "+")
      throw new AppError("invalid_input", `Line ${next + 1}: a line of a hunk begins with a space, "-" or "+".`);
    body.push({ op, text: line.slice(1) });
  }
  const lastLine = { bareBefore: bare["-"] || bare[" "], bareAfter: bare["+"] || bare[" "] };
  const line = header[1] === undefined ? undefined : Number(header[1]);
  const kept = withoutBlankTail(body, lines.slice(at + 1, next), header[2] === undefined ? 1 : Number(header[2]));
  return { value: { line, lines: kept, ...(bare["-"] || bare["+"] || bare[" "] ? { lastLine } : {}) }, next };
}

function endsHunk(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  // A removed line may begin with "-- ", which looks like a name; after two names, a hunk follows.
  if (beginsFile(lines, at) && lines[at + 2]?.startsWith("@@")) return true;
  return /^(@@|diff |Index: |index |```|<{5,9} SEARCH)/.test(line) || /^-- ?$/.test(line);
}

/** Empty lines at the end belong to the hunk only when its header counts them. */
function withoutBlankTail(body: readonly HunkLine[], raw: readonly string[], oldCount: number): HunkLine[] {
  const kept = [...body];
  let blank = raw.length - raw.findLastIndex((line) => line !== "") - 1;
  while (blank-- > 0 && kept.filter(({ op }) => op !== "+").length > oldCount) kept.pop();
  return kept;
}

const searchMark = /^<{5,9} SEARCH\s*$/;
const divider = /^={5,9}\s*$/;
const replaceMark = /^>{5,9} REPLACE\s*$/;

/**
 * Reads the search/replace block that starts at this line, if one does. The file's name is on the
 * line before it, ignoring code fences, or else is that of the previous block. An empty search part
 * creates a file.
 */
function parseSearchBlock(
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
  return name === undefined || replaceMark.test(name)
    ? undefined
    : name.replaceAll(/^[#`*\s]+|(?<![`*:\s])[`*:\s]+$/g, "");
}

function find(lines: readonly string[], from: number, mark: RegExp, block: number, shown: string): number {
  const found = lines.findIndex((line, index) => index >= from && mark.test(line));
  if (found === -1)
    throw new AppError("invalid_input", `The search block at line ${block + 1} has no line "${shown}".`);
  return found;
}
