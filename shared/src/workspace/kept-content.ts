import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../errno.ts";
import type { Workspace } from "./workspace.ts";

/** Keeps content by its SHA-256 where no tool reaches it. Not synced to the disk: after a power cut it may be missing, never wrong. */
export async function keepContent(workspace: Workspace, sha256: string, content: Blob | Uint8Array): Promise<void> {
  const folder = folderOf(workspace);
  if (await Bun.file(join(folder, sha256)).exists()) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const arriving = join(folder, `.${crypto.randomUUID()}`);
  await Bun.write(arriving, content);
  await rename(arriving, join(folder, sha256));
}

/** The content with this hash; undefined when it was not kept or is damaged. */
export async function keptContent(workspace: Workspace, sha256: string): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readFile(join(folderOf(workspace), sha256));
    return new Bun.CryptoHasher("sha256").update(bytes).digest("hex") === sha256 ? bytes : undefined;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Removes all content but that with these hashes, and what a killed process left half written. */
export async function keepOnly(workspace: Workspace, hashes: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folderOf(workspace)))
    if (!hashes.has(name)) await rm(join(folderOf(workspace), name), { force: true });
}

function folderOf({ metaRoot }: Workspace): string {
  return join(metaRoot, "content");
}
