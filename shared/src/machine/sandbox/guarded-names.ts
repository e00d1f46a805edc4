import { constants } from "node:fs";
import { chmod, lstat, open, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unlessMissing } from "../../core/errors.ts";

/**
 * Names in a workspace that something outside the sandbox would read or run later: shells, editors,
 * other agents, this system's own configuration. Files of these names are read-only while a sandbox
 * is up, also when they do not exist yet.
 */
export const guardedFiles: readonly string[] = [".bashrc", ".bash_profile", ".profile", ".mcp.json"];
/**
 * Guarded only where they exist: an empty thing in their place would be seen, or confuse the
 * programs they belong to. A mount point cannot be renamed: without it `.git` could be moved away
 * and made anew around other hooks.
 */
const guardedWhenPresent = [
  ".git",
  ".git/hooks",
  "mcp.json",
  "manyhands.toml",
  ".envrc",
  ".vscode",
  ".idea",
  ".claude",
];
/** These stay writable; what is guarded is their name. */
const writable: readonly string[] = [".git"];

const placeholderMode = 0o444;
const ownerMayAll = 0o700;
const { O_NOFOLLOW } = constants;
/** Node has no name for it. */
const O_PATH = 0o10000000;

/** The names that are mount points in one sandbox, as arguments of bwrap, until it has ended. */
export type Guard = {
  readonly names: readonly string[];
  readonly argv: readonly string[];
  /**
   * Leaves out the names that are guarded only where they exist, until the workspace is at rest.
   * Answers whether there were any.
   */
  loosen(): boolean;
  /** Takes the placeholders out again when this was the last sandbox. */
  release(): Promise<void>;
};

/** Keeps the guarded names of workspaces read-only inside bwrap. */
export interface ProtectedNames {
  guard(workspace: string): Promise<Guard>;
}

type Share = {
  users: number;
  /**
   * What is a mount point in every sandbox of the workspace, with what it was then; only ever gets
   * smaller.
   */
  readonly pinned: Promise<Map<string, string>>;
  readonly placeholders: Set<string>;
};

/**
 * Which names are guarded is decided when the first sandbox of a workspace starts, while nothing in
 * it runs, and holds until the last has ended: each sandbox has the same mount points, so that no
 * process in any of them can rename what the next one mounts. A name that appears later could be
 * changed by those that run already; it is guarded from the next rest on. An empty file stands in
 * for a name of `guardedFiles` that does not exist.
 */
export function createProtectedNames(): ProtectedNames {
  const shares = new Map<string, Share>();
  const leaving = new Map<string, Promise<void>>();

  const openShare = (workspace: string): Share => {
    const placeholders = new Set<string>();
    const rest = leaving.get(workspace) ?? Promise.resolve();
    const share = { users: 0, placeholders, pinned: rest.then(() => pinNames(workspace, placeholders)) };
    shares.set(workspace, share);
    return share;
  };
  const leave = async (workspace: string, { placeholders }: Share) => {
    shares.delete(workspace);
    const left = Promise.all([...placeholders].map(removeIfEmpty)).then(() => {});
    leaving.set(workspace, left);
    await left;
    if (leaving.get(workspace) === left) leaving.delete(workspace);
  };

  return {
    async guard(workspace) {
      const share = shares.get(workspace) ?? openShare(workspace);
      share.users += 1;
      const pinned = await share.pinned;
      await letOwnerIn(join(workspace, ".git")).catch(unlessMissing);
      await forgetChanged(workspace, pinned);
      const names = [...pinned.keys()];
      return {
        names,
        argv: names.flatMap((name) => {
          const path = join(workspace, name);
          return [writable.includes(name) ? "--bind" : "--ro-bind", path, path];
        }),
        loosen: () => guardedWhenPresent.map((name) => pinned.delete(name)).includes(true),
        async release() {
          share.users -= 1;
          if (share.users === 0) await leave(workspace, share);
        },
      };
    },
  };
}

/** Folders before what lies in them, as they are mounted in this order. */
async function pinNames(workspace: string, placeholders: Set<string>): Promise<Map<string, string>> {
  const pinned = new Map<string, string>();
  await letOwnerIn(join(workspace, ".git")).catch(unlessMissing);
  for (const name of guardedFiles) {
    const path = join(workspace, name);
    if (await placePlaceholder(path)) placeholders.add(path);
  }
  for (const name of [...guardedFiles, ...guardedWhenPresent]) {
    const identity = isReachable(name, pinned) ? await identityOf(join(workspace, name)) : undefined;
    if (identity !== undefined) pinned.set(name, identity);
  }
  return pinned;
}

/**
 * What was taken away or replaced from outside has ceased to be a mount point in the sandboxes that
 * run.
 */
async function forgetChanged(workspace: string, pinned: Map<string, string>): Promise<void> {
  for (const [name, identity] of pinned)
    if (!isReachable(name, pinned) || (await identityOf(join(workspace, name))) !== identity) pinned.delete(name);
}

/**
 * Whether the folder that a name lies in is pinned itself: below a link it would be somewhere else.
 */
function isReachable(name: string, pinned: ReadonlyMap<string, string>): boolean {
  const parent = dirname(name);
  return parent === "." || pinned.has(parent);
}

/**
 * Which file or folder a name is, when it is one and not a link to one, which a mount would follow.
 */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() || found?.isDirectory() ? `${found.dev}:${found.ino}` : undefined;
}

/**
 * Gives a folder's owner back the right to use it, without which nothing in it can be mounted; no
 * link is followed.
 */
export async function letOwnerIn(folder: string): Promise<void> {
  const held = await open(folder, O_PATH | O_NOFOLLOW);
  try {
    const stats = await held.stat();
    const { mode } = stats;
    const ours = process.getuid?.() === 0 || stats.uid === process.getuid?.();
    if (ours && stats.isDirectory() && (mode & ownerMayAll) !== ownerMayAll)
      await chmod(`/proc/self/fd/${held.fd}`, (mode & 0o7777) | ownerMayAll);
  } finally {
    await held.close();
  }
}

/**
 * Whether the name is now held by a placeholder: a new one, or one that a process which was killed
 * has left.
 */
async function placePlaceholder(path: string): Promise<boolean> {
  try {
    await writeFile(path, "", { flag: "wx", mode: placeholderMode });
    return true;
  } catch {
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) return false;
    return found.isFile() && found.size === 0 && (found.mode & 0o777) === placeholderMode;
  }
}

/**
 * Which of these paths, relative to a workspace, are only placeholders there, or were a moment ago.
 */
export async function placeholdersAmong(workspace: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = paths
    .filter((path) => guardedFiles.includes(path))
    .map(async (path) => ((await stat(join(workspace, path)).catch(() => undefined))?.size ? [] : [path]));
  return new Set((await Promise.all(found)).flat());
}

async function removeIfEmpty(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() && found.size === 0) await rm(path, { force: true });
}
