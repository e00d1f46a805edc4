import { isBinary } from "../../files/text-content.ts";

const largest = 1024 ** 2;

/** What the diffs of one list of files may still take together, and which files found no room. */
export type DiffRoom = {
  /**
   * For finding the smallest differences, because the search blocks everything else. Milliseconds.
   */
  searchMs: number;
  characters: number;
  readonly leftOut: string[];
};

/** The room of a list that has just begun. */
export function newDiffRoom(): DiffRoom {
  return { searchMs: 1_000, characters: 20_000_000, leftOut: [] };
}

/**
 * The change of one file in git's format; undefined content stands for a missing file, and
 * `executable` applies to a new one. Empty when nothing changed, for files that are not UTF-8 or
 * above 1 MB, and when there is no more room.
 */
export async function fileDiff(path: string, change: FileChange, room: DiffRoom): Promise<string> {
  const diff = await diffOf(path, change, room);
  if (diff.length <= room.characters) {
    room.characters -= diff.length;
    return diff;
  }
  room.leftOut.push(path);
  return "";
}

/** A line for each file that found no room, up to some; text that `git apply` passes over. */
export function leftOutText({ leftOut }: DiffRoom): string {
  if (leftOut.length === 0) return "";
  const more = leftOut.length - maxNamed;
  const names = leftOut.slice(0, maxNamed).map((path) => `Not shown, as there is too much: ${path}\n`);
  return `${names.join("")}${more > 0 ? `Not shown either: ${more} more\n` : ""}`;
}

const maxNamed = 20;

/** The content of a file before and after. */
export type FileChange = {
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
  readonly executable?: boolean | undefined;
};

async function diffOf(
  path: string,
  { before, after, executable = false }: FileChange,
  room: DiffRoom,
): Promise<string> {
  // A line break in a name would begin a line of the patch.
  if (/\p{Cc}/u.test(path)) return "";
  const [old, now] = [decodedText(before), decodedText(after)];
  if (old === undefined || now === undefined) return "";
  const head = `diff --git a/${path} b/${path}\n${mode(before, after, executable)}`;
  if (old === now) return before === undefined || after === undefined ? head : "";
  const { createTwoFilesPatch } = await import("diff");
  const names = [before ? `a/${path}` : "/dev/null", after ? `b/${path}` : "/dev/null"] as const;
  const begun = performance.now();
  // Without any time even a single line would be replaced by itself.
  const options = { context: 3, timeout: Math.max(1, room.searchMs) };
  const patch = createTwoFilesPatch(...names, old, now, undefined, undefined, options);
  room.searchMs -= performance.now() - begun;
  const body = patch?.slice(patch.indexOf("--- ")) ?? replacement(names, old, now);
  return head + body;
}

/**
 * The text of a file, empty for a missing one; undefined when it is too large or not UTF-8. The
 * byte order mark stays.
 */
function decodedText(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return "";
  if (bytes.length > largest || isBinary(bytes)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The patch that removes every line and adds all of the new ones, for texts too different to be
 * compared in time.
 */
function replacement([from, to]: readonly [string, string], before: string, after: string): string {
  const side = (sign: string, text: string) => {
    const lines = text.replace(/\n$/, "").split("\n");
    const end = text.endsWith("\n") ? "" : "\\ No newline at end of file\n";
    return { count: lines.length, text: `${lines.map((line) => `${sign}${line}\n`).join("")}${end}` };
  };
  const [old, now] = [side("-", before), side("+", after)];
  return `--- ${from}\n+++ ${to}\n@@ -1,${old.count} +1,${now.count} @@\n${old.text}${now.text}`;
}

/** The header line that git expects for a file that is created or deleted. */
function mode(before: Uint8Array | undefined, after: Uint8Array | undefined, executable: boolean): string {
  const empty = (before ?? after)?.length === 0;
  if (before === undefined)
    return `new file mode ${executable ? "100755" : "100644"}\n${empty ? "index 0000000..e69de29\n" : ""}`;
  return after === undefined ? `deleted file mode 100644\n${empty ? "index e69de29..0000000\n" : ""}` : "";
}
