import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { saveFile } from "../workspace/save-file.ts";
import { downloadName, numbered } from "./download-name.ts";

const mostOfOneName = 1000;

/** Puts a downloaded file into `downloads/` of the workspace under a name of its own, and answers its path there. */
export async function saveDownload(workspace: Workspace, suggested: string, file: string): Promise<string> {
  const name = downloadName(suggested);
  for (let count = 1; count <= mostOfOneName; count++)
    try {
      // The browser's user could have put something else in its place.
      await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
      const path = `downloads/${count === 1 ? name : numbered(name, count)}`;
      return await saveFile(workspace, path, handle.readableWebStream(), { exclusive: true });
    } catch (error) {
      if (!(error instanceof AppError && error.code === "conflict")) throw error;
    }
  throw new AppError("conflict", `There are ${mostOfOneName} files named like ${name} in downloads/ already.`);
}
