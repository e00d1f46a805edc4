import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../../core/errors.ts";
import { makeOwnedFolder } from "../process/owned-folder.ts";

/** More than fits into the metadata of a file, so that a full disk is noticed. */
const someBytes = 8192;

/** Where tiers are probed, and what people should know about it. */
export type ProbeFolder = { readonly path: string; readonly note?: string };

/**
 * The folder of all workspaces, or a temporary folder while that cannot be written: a full or
 * read-only disk says nothing about how commands can be confined, and may be fixed while the server
 * runs.
 */
export async function findProbeFolder(home: string): Promise<ProbeFolder> {
  const cause = await whyNotWritable(home);
  if (cause === undefined) return { path: home };
  for (const path of [tmpdir(), "/dev/shm"])
    if ((await whyNotWritable(path)) === undefined)
      return { path, note: `tried out in ${path}, as ${home} cannot be written now (${cause})` };
  return { path: home, note: `${home} cannot be written (${cause}): make room and start again` };
}

async function whyNotWritable(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true });
    const path = await makeOwnedFolder(folder, ".probe");
    try {
      await writeFile(join(path, "some"), new Uint8Array(someBytes));
    } finally {
      await rm(path, { recursive: true, force: true });
    }
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? String(error);
  }
}
