import { AppError } from "../../core/errors.ts";
import type { FilePatch, Hunk, HunkLine, Read } from "./patch.ts";

const nowhere = "/dev/null";
const hunkHeader = /^@@(?: -(\d+)(?:,(\d+))? \+\d+(?:,\d+)?)?(?: @@.*|\s*(?:@@)?\s*)$/;

/** Reads the unified diff of one file that begins at this line, if one does. */
export function parseUnifiedFile(lines: readonly string[], at: number): Read<FilePatch> | undefined {
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
  if (header === null) throw new AppError("invalid_input", `Line ${at + 1}: "${lines[at]}" is no hunk header.`);
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
  // A removed line may begin with "-- ", which looks like a name; after two names comes a hunk.
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
