import { isBinary } from "../../files/text-content.ts";

const largest = 1024 ** 2;
/**
 * The time limit for finding the smallest difference, because the search blocks everything else.
 */
const diffMs = 1000;

/**
 * The change of one file in git's format; undefined content stands for a missing file, and
 * `executable` applies to a new one. Empty when nothing changed, and for files that are not UTF-8
 * or above 1 MB.
 */
export async function fileDiff(
  path: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
  executable = false,
): Promise<string> {
  const [old, now] = [decodedText(before), decodedText(after)];
  if (old === undefined || now === undefined) return "";
  const head = `diff --git a/${path} b/${path}\n${mode(before, after, executable)}`;
  if (old === now) return before === undefined || after === undefined ? head : "";
  const { createTwoFilesPatch } = await import("diff");
  const names = [before ? `a/${path}` : "/dev/null", after ? `b/${path}` : "/dev/null"] as const;
  const options = { context: 3, timeout: diffMs };
  const patch = createTwoFilesPatch(...names, old, now, undefined, undefined, options);
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
