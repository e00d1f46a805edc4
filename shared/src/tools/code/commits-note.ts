import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { openFile } from "../../machine/workspace/workspace-file.ts";
import type { Unpacked } from "./archive/place-entries.ts";

/**
 * How commits leave the workspace, for a model that may be asked to make some: what is handed over
 * by itself is the difference of the files, and a repository's own folder never is. Empty if what
 * was placed is no repository.
 */
export async function commitsNote(workspace: Workspace, { folder, files }: Unpacked): Promise<string> {
  if (!files.some(({ path }) => path === `${folder}/.git/HEAD`)) return "";
  const commit = await headOf(workspace, `${folder}/.git`);
  const at = commit === undefined ? "" : `, at ${commit}`;
  return `\nIt is a git repository${at}. Commits stay in it here: if you are asked to commit, hand them over as well, as a file beside its folder that git am takes: git format-patch --stdout ${commit ?? "BEFORE"}..HEAD > ../commits.mbox`;
}

/** The commit that is checked out, if its name can be read. */
async function headOf(workspace: Workspace, git: string): Promise<string | undefined> {
  const head = await beginningOf(workspace, `${git}/HEAD`);
  const [, ref] = /^ref: (refs\/heads\/\w[\w./-]{0,200})\s*$/.exec(head) ?? [];
  if (ref === undefined) return commitIn(head);
  const loose = commitIn(await beginningOf(workspace, `${git}/${ref}`));
  if (loose !== undefined) return loose;
  const packed = (await beginningOf(workspace, `${git}/packed-refs`)).split("\n");
  return commitIn(packed.find((line) => line.endsWith(` ${ref}`)) ?? "");
}

const shownDigits = 12;

function commitIn(text: string): string | undefined {
  return /^[0-9a-f]{40}(?![0-9a-f])/.exec(text)?.[0].slice(0, shownDigits);
}

/** References are short; of many packed ones the first are read. */
const maxBytes = 64 * 1024;

async function beginningOf(workspace: Workspace, path: string): Promise<string> {
  try {
    await using file = await openFile(workspace, path);
    const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return buffer.subarray(0, bytesRead).toString("latin1");
  } catch (error) {
    if (error instanceof AppError) return "";
    throw error;
  }
}
