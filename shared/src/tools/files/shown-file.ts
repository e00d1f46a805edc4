import { counted } from "../../core/text/counted.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Shown } from "../../core/tools/tool.ts";
import type { WorkspacePath } from "../../machine/workspace/workspace-file.ts";

const later = "a later view or create has all of it";

/** What a view of a file shows. `whole` are its bytes, if all of it is shown. */
export function viewedFile(
  path: string,
  { relative }: WorkspacePath,
  { text, whole, range }: { readonly text: string; readonly whole?: Uint8Array; readonly range?: readonly number[] },
): Shown {
  const lines = range === undefined ? "" : ` (lines ${range.join(" to ")})`;
  const of = `file ${relative}`;
  const brief = `[${path}${lines} as it was then; ${later}.]`;
  if (whole === undefined) return { of, brief };
  const again = `${path} reads word for word as when it was written or shown whole above: ${counted(countLines(whole), "line")}, ${counted(whole.length, "byte")}. view_range [1, -1] shows it again.`;
  // A short text is shown again rather than referred to.
  return { of, whole: sha256Of(whole), brief, ...(text.length >= 2 * again.length && { again }) };
}

/** What the call that wrote a file whole shows: all of it. */
export function writtenFile({ relative }: WorkspacePath, content: string): Shown {
  return { of: `file ${relative}`, whole: sha256Of(content) };
}

/** What the result of an edit shows: some lines of the file. */
export function editedFile(path: string, { relative }: WorkspacePath): Shown {
  return { of: `file ${relative}`, brief: `The file ${path} has been edited. [The lines are left out; ${later}.]` };
}

/** What the listing of a folder shows. */
export function listedFolder(path: string, { relative }: WorkspacePath, text: string): Shown {
  return {
    of: `folder ${relative}`,
    whole: sha256Of(text),
    brief: `[What was in ${path} then; a later view lists it.]`,
  };
}

function countLines(content: Uint8Array): number {
  const breaks = content.reduce((sum, byte) => sum + (byte === 10 ? 1 : 0), 0);
  return content.at(-1) === 10 || content.length === 0 ? breaks : breaks + 1;
}
