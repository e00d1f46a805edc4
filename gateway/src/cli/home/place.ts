import { constants, existsSync } from "node:fs";
import { access, chmod, mkdir, readdir, rename, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unlessMissing } from "manyhands/internal/core/errors";
import { makeOwnedFolder } from "manyhands/internal/machine/process/owned-folder";

/** The copies of the settings files in a backup, which are not a home's own. */
export const settingsFolder = "settings";
/** Where backups may be in their own home, if nothing else can be written, as in a container. */
export const backupsFolder = "backups";
/** What is not the home's, besides hidden names; set-up makes `python`. It stays where it is. */
const foreign: readonly string[] = [backupsFolder, "python", "lost+found"];

/** Tool processes have to reach their workspaces through the home. */
const homeMode = 0o711;
/** What only the owner may read, however the copies in a backup were made. */
const secret: readonly (readonly [name: string, mode: number])[] = [
  ["runs.db", 0o600],
  ["auth.db", 0o600],
  ["memory.db", 0o600],
  [settingsFolder, 0o700],
];

/** Where a home is put. */
export type Place = {
  /** The folder that the new home is unpacked into. */
  readonly arriving: string;
  /**
   * Puts what arrived in its place. Returns where what was there before is, if there was anything.
   */
  put(): Promise<string | undefined>;
};

/**
 * What is in a home; not what a program whose home it is too has left there, or a file system, nor
 * its backups and what set-up installed. Rejects if the home is there and cannot be listed.
 */
export async function contentsOf(home: string): Promise<readonly string[]> {
  return (await listed(home)).filter((name) => !name.startsWith(".") && !foreign.includes(name));
}

async function listed(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(unlessMissing)) ?? [];
}

/**
 * Opens the place of a home. The folder is replaced as one; where that cannot be, as it is a volume
 * or its parent belongs to root, its contents are, with the run store last.
 */
export async function openPlace(home: string): Promise<Place> {
  await mkdir(dirname(home), { recursive: true });
  const aside = `.before-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  if (await isReplaceable(home)) {
    const arriving = await makeOwnedFolder(dirname(home), `${basename(home)}.restoring`, 0o700);
    return {
      arriving,
      async put() {
        await closeToOthers(arriving);
        const before = `${home}${aside}`;
        if ((await listed(home)).length > 0) await rename(home, before);
        else await rmdir(home).catch(unlessMissing);
        await rename(arriving, home);
        for (const name of foreign) await rename(join(before, name), join(home, name)).catch(unlessMissing);
        await rmdir(before).catch(() => undefined);
        return existsSync(before) ? before : undefined;
      },
    };
  }
  const arriving = await makeOwnedFolder(home, ".restoring", 0o700);
  return {
    arriving,
    async put() {
      await closeToOthers(arriving);
      const there = (await contentsOf(home)).toSorted(storeFirst);
      if (there.length > 0) await mkdir(join(home, aside), { mode: 0o700 });
      for (const name of there) await rename(join(home, name), join(home, aside, name));
      const come = (await contentsOf(arriving)).toSorted(storeFirst).toReversed();
      for (const name of come) await rename(join(arriving, name), join(home, name));
      return there.length > 0 ? join(home, aside) : undefined;
    },
  };
}

const storeFirst = (a: string, b: string) => Number(b.startsWith("runs.db")) - Number(a.startsWith("runs.db"));

async function isReplaceable(home: string): Promise<boolean> {
  const parent = dirname(home);
  const isThere = await stat(home).catch(unlessMissing);
  if (isThere === undefined) return true;
  if (isThere.dev !== (await stat(parent)).dev) return false;
  return access(parent, constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function closeToOthers(arriving: string): Promise<void> {
  await chmod(arriving, homeMode);
  for (const [name, mode] of secret) await chmod(join(arriving, name), mode).catch(unlessMissing);
}
