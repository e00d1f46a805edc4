import { constants } from "node:fs";
import { chmod, chown, type FileHandle, mkdir, open, readdir, realpath, utimes } from "node:fs/promises";
import { join } from "node:path";
import { AppError, errnoOf } from "../../core/errors.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Workspace } from "../../core/workspace.ts";
import { confinedPath } from "./confined-path.ts";
import { giveTo, holdFolder, type Owner } from "./held-folder.ts";
import { removeStale } from "./own-files/remove-stale.ts";
import { putFile } from "./save-file.ts";
import { ownerOf, workspacePathOf } from "./workspace-file.ts";

const outputFolders = [".manyhands", "output"];

/** The workspace to open. `user` is the user that tool processes run as, if not our own. */
export type WorkspaceRequest = {
  readonly home: string;
  /** The agent that works there; agents share no files, even on the same disk. */
  readonly agent?: string;
  readonly principal: string;
  readonly contextId: string;
  readonly user?: Owner | undefined;
};

/**
 * The workspace of one caller's conversation, created if it does not exist. Its name is a hash: any
 * contextId is safe, and the same contextId of another principal is another workspace. Tool
 * processes can enter `root` but can neither list its neighbours nor enter `metaRoot`.
 */
export async function openWorkspace(request: WorkspaceRequest): Promise<Workspace> {
  const { home, agent, principal, contextId, user } = request;
  const parent = join(home, "workspaces");
  const folder = join(parent, workspaceKey(agent === undefined ? principal : `${agent}/${principal}`, contextId));
  const metaRoot = join(folder, "meta");
  const files = join(folder, "files");
  await mkdir(home, { recursive: true, mode: 0o711 });
  await mkdir(files, { recursive: true, mode: 0o700 });
  await mkdir(metaRoot, { recursive: true, mode: 0o700 });
  if (user !== undefined && process.getuid?.() === 0) {
    await Promise.all([parent, folder].map((path) => chmod(path, 0o711)));
    await chown(files, user.uid, user.gid);
  }
  // When it was last opened decides how long it is kept.
  const now = Date.now() / 1000;
  await utimes(folder, now, now);
  await removeStale(join(metaRoot, "staging"));
  const root = await realpath(files);
  const workspace: Workspace = {
    principal,
    root,
    metaRoot: await realpath(metaRoot),
    resolve: (path) => confinedPath(root, path),
    spill: (name, content) => spillInto(workspace, name, content),
    adopt: (path) => adoptInto(workspace, path),
  };
  return workspace;
}

/** The name of the folder of a conversation. */
export function workspaceKey(principal: string, contextId: string): string {
  const hash = sha256Of(JSON.stringify([principal, contextId]));
  return hash.slice(0, 32);
}

/**
 * Writes `content` under the next free number in the output folder and returns its path, relative
 * to the root.
 */
async function spillInto(workspace: Workspace, name: string, content: string | Uint8Array | Blob): Promise<string> {
  const source = typeof content === "string" ? new TextEncoder().encode(content) : content;
  for (let number = await nextNumber(workspace); ; number++) {
    const file = `${String(number).padStart(4, "0")}-${safeName(name)}`;
    const relative = [...outputFolders, file].join("/");
    try {
      const bytes = source instanceof Blob ? source.stream() : source;
      await putFile(workspace, { folders: outputFolders, name: file, relative }, bytes, true);
      return relative;
    } catch (error) {
      if (!(error instanceof AppError && error.code === "conflict")) throw error;
    }
  }
}

async function nextNumber(workspace: Workspace): Promise<number> {
  await using folder = await holdFolder(workspace.root, outputFolders, await ownerOf(workspace));
  const numbers = (await readdir(folder.at(""))).map((name) => Number(/^(\d{4,9})-/.exec(name)?.[1] ?? 0));
  return 1 + numbers.reduce((most, number) => Math.max(most, number), 0);
}

function safeName(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+/, "");
  return safe === "" ? "output.txt" : safe.slice(-80);
}

/**
 * Gives a file, or a folder with everything in it, to the user of the workspace. Symlinks and
 * hard-linked files stay as they are.
 */
async function adoptInto(workspace: Workspace, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = await ownerOf(workspace);
  const { folders, name } = await workspacePathOf(workspace, path);
  await using folder = await holdFolder(workspace.root, folders);
  await adoptAt(folder.at(name), owner);
}

async function adoptAt(path: string, owner: Owner): Promise<void> {
  await using handle = await openAny(path);
  if (handle === undefined) return;
  const stats = await handle.stat();
  if (stats.isFile() && stats.nlink > 1) return;
  if (stats.isFile() || stats.isDirectory()) await giveTo(handle, owner);
  if (!stats.isDirectory()) return;
  const held = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
  for (const name of await readdir(held)) await adoptAt(`${held}/${name}`, owner);
}

async function openAny(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (["ELOOP", "ENOENT", "ENXIO"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}
