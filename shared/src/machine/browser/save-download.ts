import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { saveFile } from "../workspace/save-file.ts";

const maxOfOneName = 1000;
const longestBytes = 120;

/**
 * Puts a downloaded file into `downloads/` of the workspace under a unique name, and returns its
 * path there.
 */
export async function saveDownload(workspace: Workspace, suggested: string, file: string): Promise<string> {
  const name = downloadName(suggested);
  for (let count = 1; count <= maxOfOneName; count++)
    try {
      // The browser's user could have put something else in its place.
      await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
      const path = `downloads/${count === 1 ? name : numbered(name, count)}`;
      return await saveFile(workspace, path, handle.readableWebStream(), { exclusive: true });
    } catch (error) {
      if (!(error instanceof AppError && error.code === "conflict")) throw error;
    }
  throw new AppError("conflict", `There are ${maxOfOneName} files named like ${name} in downloads/ already.`);
}

/**
 * Turns a name that a server suggested into a file name that is safe in any folder: no path, no
 * control or direction characters, not hidden, not long.
 */
export function downloadName(suggested: string): string {
  const last = suggested.split(/[/\\]/).at(-1) ?? "";
  const clean = last
    .normalize("NFC")
    .replace(/[\p{C}\p{Zl}\p{Zp}<>:"|?*]/gu, "_")
    .replace(/^[.\s]+|(?<![.\s])[.\s]+$/g, "");
  const { stem, extension } = parts(clean === "" ? "download" : clean);
  return cut(stem, longestBytes - Buffer.byteLength(extension)) + extension;
}

/** The same name with a number, for when it is taken. */
export function numbered(name: string, count: number): string {
  const { stem, extension } = parts(name);
  return `${stem}-${count}${extension}`;
}

function parts(name: string): { stem: string; extension: string } {
  const extension = /(?:\.tar)?\.[\p{L}\p{N}]{1,10}$/u.exec(name)?.[0] ?? "";
  return { stem: name.slice(0, name.length - extension.length) || "download", extension };
}

function cut(text: string, bytes: number): string {
  let kept = "";
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytes) break;
    kept += character;
  }
  return kept;
}
