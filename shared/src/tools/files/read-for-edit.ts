import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { openFile } from "../../machine/workspace/workspace-file.ts";

const maxEdited = 10 * 1024 ** 2;

/** The content of a file to edit, and what its successor has to keep. */
export type EditedFile = {
  readonly bytes: Uint8Array;
  readonly stats: { readonly mode: number; readonly uid: number; readonly gid: number };
};

/**
 * Reads a whole file; rejects with `too_large` above 10 MB, before reading it, and with `forbidden`
 * when it has other hard links.
 */
export async function readForEdit(workspace: Workspace, path: string): Promise<EditedFile> {
  await using file = await openFile(workspace, path);
  const { stats } = file;
  if (stats.nlink > 1) {
    const message = `The file ${path} has several hard links, so an edit would not reach them all. Copy it first.`;
    throw new AppError("forbidden", message);
  }
  const bytes = await file.read(maxEdited);
  if (bytes === undefined) throw tooLarge(path, stats.size);
  return { bytes, stats: { mode: stats.mode, uid: stats.uid, gid: stats.gid } };
}

function tooLarge(path: string, size: number): AppError {
  const message = `The file ${path} has ${size} bytes; files above ${maxEdited} bytes cannot be edited here. Use a command.`;
  return new AppError("too_large", message);
}
