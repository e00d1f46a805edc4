import { constants } from "node:fs";
import { chmod, lstat, open, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unlessMissing } from "../../core/errors.ts";

/**
 * Names in a workspace that something outside the sandbox would read or run later: shells, editors,
 * other agents, this system's own configuration. Files with these names are read-only while a
 * sandbox runs, even when they do not exist yet.
 */
export const guardedFiles: readonly string[] = [".bashrc", ".bash_profile", ".profile", ".mcp.json"];
/**
 * Guarded only where they exist: an empty placeholder would be visible, or confuse the programs
 * that use these names. A mount point cannot be renamed; otherwise `.git` could be moved away and
 * recreated with other hooks.
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
/** These stay writable; only their names are guarded. */
const writable: readonly string[] = [".git"];

const placeholderMode = 0o444;
const ownerMayAll = 0o700;
const { O_NOFOLLOW } = constants;
/** Node does not export this flag. */
const O_PATH = 0o10000000;

/**
 * The names that are mount points in one sandbox, with the bwrap arguments for them, until the
 * sandbox has ended.
 */
export type Guard = {
  readonly names: readonly string[];
  readonly argv: readonly string[];
  /**
   * Drops the names that are guarded only where they exist, until no sandbox of the workspace runs.
   * Returns whether there were any.
   */
  loosen(): boolean;
  /** Removes the placeholders if this was the last sandbox. */
  release(): Promise<void>;
};

/** Keeps the guarded names of workspaces read-only inside bwrap. */
export interface ProtectedNames {
  guard(workspace: string): Promise<Guard>;
}

type Share = {
  users: number;
  /**
   * The mount points of every sandbox of the workspace, each with the identity of its file when it
   * was pinned. Only ever shrinks.
   */
  readonly pinned: Promise<Map<string, string>>;
  readonly placeholders: Set<string>;
};

/**
 * The guarded names are chosen when the first sandbox of a workspace starts, while nothing in it
 * runs, and stay the same until the last has ended: each sandbox has the same mount points, so that
 * no process in any of them can rename what the next one mounts. A name that appears later could be
 * changed by running processes; it is guarded the next time a first sandbox starts. An empty file
 * stands in for a name of `guardedFiles` that does not exist.
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

/** Folders come before their contents, because they are mounted in this order. */
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
 * A file that was removed or replaced from outside is no longer a mount point in the running
 * sandboxes.
 */
async function forgetChanged(workspace: string, pinned: Map<string, string>): Promise<void> {
  for (const [name, identity] of pinned)
    if (!isReachable(name, pinned) || (await identityOf(join(workspace, name))) !== identity) pinned.delete(name);
}

/**
 * Whether the folder that contains the name is pinned itself: below a link it would be somewhere
 * else.
 */
function isReachable(name: string, pinned: ReadonlyMap<string, string>): boolean {
  const parent = dirname(name);
  return parent === "." || pinned.has(parent);
}

/** Identifies the file or folder at a path; undefined for a link, which a mount would follow. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() || found?.isDirectory() ? `${found.dev}:${found.ino}` : undefined;
}

/**
 * Restores the owner's permissions on a folder, without which nothing in it can be mounted. Follows
 * no link.
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
 * Whether a placeholder now holds the name: a new one, or one that a killed process left behind.
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
 * Returns those of the paths, relative to a workspace, that are only placeholders there, or were a
 * moment ago.
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
