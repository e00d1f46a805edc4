import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../../core/errno.ts";
import { makeOwnedFolder } from "./owned-folder.ts";

/** More than fits into the metadata of a file, so that a full disk shows. */
const someBytes = 8192;

/** Where tiers are tried out, and what has to be known about it. */
export type ProbeFolder = { readonly path: string; readonly note?: string };

/**
 * The workspaces' home, or a temporary folder where that cannot be written at the moment: a full or read-only disk says nothing about how commands can be
 * confined, and is mended while the server runs.
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
