import { chmod, chown, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Workspace } from "../../core/workspace.ts";
import { adoptInto } from "./adopt.ts";
import { confinedPath } from "./confined-path.ts";
import type { Owner } from "./held-folder.ts";
import { removeStale } from "./remove-stale.ts";
import { spillInto } from "./spill.ts";

/** Which workspace to open. `user` is who tool processes run as, where that is not our own user. */
export type WorkspaceRequest = {
  readonly home: string;
  readonly principal: string;
  readonly contextId: string;
  readonly user?: Owner | undefined;
};

/**
 * The workspace of one caller's conversation, made when it is not there yet. Its name is a hash: any contextId is safe, and the same contextId of
 * another principal is another workspace. Tool processes can enter `root` but neither list its neighbours nor enter `metaRoot`.
 */
export async function openWorkspace({ home, principal, contextId, user }: WorkspaceRequest): Promise<Workspace> {
  const parent = join(home, "workspaces");
  const folder = join(parent, workspaceKey(principal, contextId));
  const metaRoot = join(folder, "meta");
  const files = join(folder, "files");
  await mkdir(home, { recursive: true, mode: 0o711 });
  await mkdir(files, { recursive: true, mode: 0o700 });
  await mkdir(metaRoot, { recursive: true, mode: 0o700 });
  if (user !== undefined && process.getuid?.() === 0) {
    await Promise.all([parent, folder].map((path) => chmod(path, 0o711)));
    await chown(files, user.uid, user.gid);
  }
  await removeStale(join(metaRoot, "staging"));
  const root = await realpath(files);
  const workspace: Workspace = {
    root,
    metaRoot: await realpath(metaRoot),
    resolve: (path) => confinedPath(root, path),
    spill: (name, content) => spillInto(workspace, name, content),
    adopt: (path) => adoptInto(workspace, path),
  };
  return workspace;
}

function workspaceKey(principal: string, contextId: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify([principal, contextId])).digest("hex");
  return hash.slice(0, 32);
}
