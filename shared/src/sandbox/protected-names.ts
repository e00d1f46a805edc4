import { lstat, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Names in a workspace that something outside the sandbox would read or run later: shells, editors, other agents, this
 * system's own configuration. Files of these names are read-only while a sandbox is up, also when they do not exist yet.
 */
export const guardedFiles: readonly string[] = [".bashrc", ".bash_profile", ".profile", ".mcp.json"];
/** Guarded only where they exist: an empty thing in their place would be seen, or confuse the programs they belong to. */
const guardedWhenPresent = ["mcp.json", "manyhands.toml", ".git/hooks", ".envrc", ".vscode", ".idea", ".claude"];

const placeholderMode = 0o444;

/** What to mount over a workspace, and the way to take the placeholders out again. */
export type Guard = { readonly argv: readonly string[]; release(): Promise<void> };

/** Keeps the guarded names of workspaces read-only inside bwrap; counts the sandboxes that share a workspace. */
export interface ProtectedNames {
  guard(workspace: string): Promise<Guard>;
}

/** An empty file stands in for a guarded name that does not exist, until the last sandbox on that workspace has ended. */
export function createProtectedNames(): ProtectedNames {
  const shares = new Map<string, { users: number; readonly placeholders: Set<string> }>();
  return {
    async guard(workspace) {
      const share = shares.get(workspace) ?? { users: 0, placeholders: new Set<string>() };
      share.users += 1;
      shares.set(workspace, share);
      for (const name of guardedFiles) {
        const path = join(workspace, name);
        if (await placePlaceholder(path)) share.placeholders.add(path);
      }
      const argv: string[] = [];
      // A mount point cannot be renamed: without it `.git` could be moved away and made anew around other hooks.
      if (await isPlain(join(workspace, ".git"))) argv.push("--bind", join(workspace, ".git"), join(workspace, ".git"));
      for (const name of [...guardedFiles, ...guardedWhenPresent]) {
        const path = join(workspace, name);
        if (await isPlain(path)) argv.push("--ro-bind", path, path);
      }
      return {
        argv,
        async release() {
          share.users -= 1;
          if (share.users > 0) return;
          shares.delete(workspace);
          for (const path of share.placeholders) await removeIfEmpty(path);
        },
      };
    },
  };
}

/** Whether there is a file or folder that is not reached through a symlink, which a mount would follow. */
async function isPlain(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && (found.isFile() || found.isDirectory());
}

/** Whether the name is now held by a placeholder: a new one, or one that a process which was killed has left. */
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

/** Which of these paths, relative to a workspace, are only placeholders there, or were a moment ago. */
export async function placeholdersAmong(workspace: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = paths
    .filter((path) => guardedFiles.includes(path))
    .map(async (path) => ((await stat(join(workspace, path)).catch(() => undefined))?.size ? [] : [path]));
  return new Set((await Promise.all(found)).flat());
}

async function removeIfEmpty(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() && found.size === 0) await rm(path, { force: true });
}
