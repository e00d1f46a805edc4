import { existsSync } from "node:fs";
import { cp, mkdir, open, readdir, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { AppError, errnoOf } from "manyhands/internal/core/errors";
import { version } from "manyhands/internal/core/release";
import { vacuum } from "manyhands/internal/durable/sqlite/disk/vacuum";
import { makeOwnedFolder } from "manyhands/internal/machine/process/owned-folder";
import { authFile, memoryFile } from "manyhands/internal/server/storage/open-shared";
import type { CliContext } from "../../session/context.ts";
import { exitCodes } from "../../terminal/exit-code.ts";
import { withHome } from "../runs/delete-runs.ts";
import { backupsFolder, contentsOf, settingsFolder } from "./place.ts";
import { writeTar } from "./tar.ts";

/** What a backup says of itself. */
export const manifestName = "backup.json";

/** What belongs to a process, or is only on its way out or in. */
const leftOut = [manifestName, settingsFolder, "browser", "logs"];
const underWay = ["workspaces/.leaving", "artifacts/arriving", "artifacts/leaving"];

/**
 * Writes the home to one new file, while servers work in it: the store, the tokens and the memory
 * as they are at one moment, then the files. A file is stored before the run that names it, so none
 * that the store's copy names is missing, unless it is deleted meanwhile. Only its owner can read
 * the backup; it holds the home's keys.
 */
export async function backup(
  file: string,
  options: { readonly config?: string },
  context: CliContext,
): Promise<number> {
  const path = resolve(context.cwd, file);
  if (existsSync(path)) throw new AppError("conflict", `${path} exists already.`);
  return withHome(options, context, async ({ engine }, config) => {
    const { home } = config;
    await checkOutside(path, home);
    const staging = await makeOwnedFolder(dirname(path), ".manyhands-backup", 0o700).catch(refuse(path));
    try {
      await engine.backup(join(staging, "runs.db"));
      if (existsSync(authFile(home))) await vacuum({ path: authFile(home), into: join(staging, "auth.db") });
      if (existsSync(memoryFile(home))) await vacuum({ path: memoryFile(home), into: join(staging, "memory.db") });
      await mkdir(join(staging, settingsFolder));
      for (const setting of [config.file && resolve(context.cwd, config.file), config.mcp.file])
        if (setting !== undefined && existsSync(setting))
          await cp(setting, join(staging, settingsFolder, basename(setting)));
      const manifest = { format: 1, version, createdAt: new Date().toISOString() };
      await Bun.write(join(staging, manifestName), `${JSON.stringify(manifest)}\n`);
      const own = (await contentsOf(home)).filter((name) => !/\.db(-wal|-shm)?$/.test(name) && !leftOut.includes(name));
      const partial = join(staging, "partial");
      const copied = (await readdir(staging)).filter((name) => name !== "partial");
      await writeTar(
        partial,
        [
          { folder: staging, entries: copied },
          { folder: home, entries: own },
        ],
        underWay,
      );
      await rename(partial, path);
      await syncFolder(dirname(path));
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
    context.terminal.say(`Wrote ${path}. It holds the keys of this home: keep it as safe as the home itself.`);
    return exitCodes.ok;
  });
}

/** A backup that is elsewhere in the home would be part of the next. */
async function checkOutside(path: string, home: string): Promise<void> {
  const backups = resolve(home, backupsFolder);
  if (dirname(path) === backups) await mkdir(backups, { recursive: true, mode: 0o700 });
  const folder = await realpath(dirname(path)).catch(refuse(path));
  const [top = ""] = relative(await realpath(home), folder).split(sep);
  if (top !== ".." && top !== backupsFolder)
    throw new AppError("invalid_input", `${path} would be part of the next backup. Write it to ${backups}.`);
}

function refuse(path: string): (error: unknown) => never {
  return (error) => {
    throw new AppError("invalid_input", `${path} cannot be written (${errnoOf(error) ?? String(error)}).`);
  };
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r");
  await folder.sync();
}
