import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { AppError, unlessMissing } from "../../core/errors.ts";
import type { Conversation } from "../../core/runs/housekeeping.ts";
import type { Workspace } from "../../core/workspace.ts";
import { confinedPath } from "./confined-path.ts";
import { type Listing, listFiles } from "./list-files.ts";
import { workspaceKey } from "./open-workspace.ts";
import { openFile } from "./workspace-file.ts";

/** The workspaces of a home, to be looked at: nothing is created, and none counts as used. */
export type ReadWorkspaces = {
  /**
   * The files of a conversation; none if it has no workspace here. Without empty ones that only
   * stand for a name.
   */
  list(conversation: Conversation): Promise<Listing>;
  /**
   * The content of a file, of at most `longestRead` bytes. Rejects with `not_found`, with
   * `forbidden` for a path that leads outside, and with `too_large`.
   */
  read(conversation: Conversation, path: string): Promise<Uint8Array<ArrayBuffer>>;
};

/** The most bytes of a file that are read. */
const longestRead = 64 * 1024 * 1024;

/**
 * The workspaces below this home. A sandbox that guards a name puts an empty file there: those of
 * `placeholders` are nobody's work.
 */
export function createReadWorkspaces(home: string, placeholders: readonly string[] = []): ReadWorkspaces {
  const open = async ({ kind, principal, contextId }: Conversation): Promise<Workspace | undefined> => {
    const folder = join(home, "workspaces", workspaceKey(`${kind}/${principal}`, contextId));
    const root = await realpath(join(folder, "files")).catch(unlessMissing);
    if (root === undefined) return undefined;
    const refuse = () => Promise.reject(new AppError("forbidden", "This workspace is read-only."));
    return {
      principal,
      root,
      metaRoot: join(folder, "meta"),
      resolve: (path) => confinedPath(root, path),
      spill: refuse,
      adopt: refuse,
    };
  };
  return {
    async list(conversation) {
      const workspace = await open(conversation);
      if (workspace === undefined) return { files: [], complete: true };
      const { files, complete } = await listFiles(workspace);
      return { files: files.filter(({ path, size }) => size > 0 || !placeholders.includes(path)), complete };
    },
    async read(conversation, path) {
      const workspace = await open(conversation);
      if (workspace === undefined) throw new AppError("not_found", `The path ${path} does not exist.`);
      await using file = await openFile(workspace, path);
      const content = await file.read(longestRead);
      if (content === undefined)
        throw new AppError("too_large", `The file ${path} has more than ${longestRead / 1024 / 1024} MB.`);
      return content;
    },
  };
}
