import { mkdirSync, renameSync } from "node:fs";
import { chmod, lstat, readdir, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { AppError, errnoOf, unlessMissing } from "../../core/errors.ts";
import type { HomeFiles } from "../../core/runs/housekeeping.ts";
import { counted } from "../../core/text/counted.ts";
import type { KeptArtifacts } from "../../core/workspace.ts";
import { workspaceKey } from "./open-workspace.ts";

const workspaceName = /^[0-9a-f]{32}$/;

/**
 * The workspaces of a home, and its artifacts, for deleting them. The servers of the home may be at
 * work: what is put aside is renamed first, so that nobody finds it half deleted.
 */
export function createHomeFiles(home: string, artifacts: KeptArtifacts): HomeFiles {
  const workspaces = join(home, "workspaces");
  const aside = join(workspaces, ".leaving");
  const putAside = (name: string): string | undefined => {
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    const place = join(aside, `${name}-${crypto.randomUUID()}`);
    try {
      renameSync(join(workspaces, name), place);
      return place;
    } catch (error) {
      return unlessMissing(error);
    }
  };
  const nameOf: HomeFiles["nameOf"] = ({ kind, principal, contextId }) =>
    workspaceKey(`${kind}/${principal}`, contextId);
  return {
    nameOf,
    detach: (conversation) => putAside(nameOf(conversation)) !== undefined,
    async oldWorkspaces(before, limit, except) {
      const old: string[] = [];
      for (const name of (await readdir(workspaces).catch(unlessMissing)) ?? []) {
        if (old.length === limit) break;
        if (!workspaceName.test(name) || except.has(name)) continue;
        const folder = join(workspaces, name);
        if (((await changedAt(folder)) ?? before) >= before) continue;
        const newest = await newestChange(folder);
        if (newest < before) old.push(name);
        // What was found is not looked for again.
        else await utimes(folder, newest / 1000, newest / 1000).catch(unlessMissing);
      }
      return old;
    },
    async detachOld(name, before) {
      const place = putAside(name);
      if (place === undefined) return false;
      if (((await changedAt(place)) ?? 0) < before) return true;
      // It was opened meanwhile. Where its opener has made a new one, that one counts.
      await rename(place, join(workspaces, name)).catch(unless(occupied));
      return false;
    },
    async clear() {
      const failures: unknown[] = [];
      for (const name of (await readdir(aside).catch(unlessMissing)) ?? [])
        await removeAll(join(aside, name)).catch((error) => failures.push(error));
      if (failures.length === 0) return;
      const text = `The files of ${counted(failures.length, "deleted conversation")} could not be removed yet.`;
      throw new AppError("unavailable", text, { cause: failures[0] });
    },
    oldArtifacts: artifacts.old,
    removeArtifact: artifacts.remove,
    dropCopies: async (inUse) => await artifacts.dropCopies?.(inUse),
  };
}

async function changedAt(path: string): Promise<number | undefined> {
  return (await lstat(path).catch(unlessMissing))?.mtimeMs;
}

/** When anything in a folder was last changed. */
async function newestChange(folder: string): Promise<number> {
  let newest = 0;
  const waiting = [folder];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stats = await lstat(path).catch(unlessMissing);
    newest = Math.max(newest, stats?.mtimeMs ?? 0);
    if (stats?.isDirectory() !== true) continue;
    for (const name of (await readdir(path).catch(() => undefined)) ?? []) waiting.push(join(path, name));
  }
  return newest;
}

/**
 * Removes a folder; tools may have locked folders in it, and a last process may still write there.
 */
async function removeAll(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!["EACCES", "EPERM"].includes(errnoOf(error) ?? "")) return unless(stillUsed)(error);
    await unlock(path);
    await rm(path, { recursive: true, force: true }).catch(unless(stillUsed));
  }
}

const occupied = ["EEXIST", "ENOTEMPTY", "ENOENT"];
/** Somebody writes there, or removes it as well; it is removed the next time. */
const stillUsed = ["EBUSY", "ENOTEMPTY", "ENOENT"];

/** For `catch`: any other failure is thrown on. */
function unless(expected: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!expected.includes(errnoOf(error) ?? "")) throw error;
  };
}

async function unlock(path: string): Promise<void> {
  const stats = await lstat(path).catch(unlessMissing);
  if (stats?.isDirectory() !== true) return;
  await chmod(path, 0o700).catch(() => undefined);
  for (const name of (await readdir(path).catch(() => undefined)) ?? []) await unlock(join(path, name));
}
