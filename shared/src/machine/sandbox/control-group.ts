import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type GroupPlace, groupPlaces, sortedNow } from "./group-place.ts";
import type { SandboxLimits } from "./sandbox.ts";

/** A control group that bounds memory and processes of one sandbox together, tmpfs included. */
export interface ControlGroup {
  /** The folder whose `cgroup.procs` a process writes itself into. */
  readonly folder: string;
  /** Whether the kernel has ended a process of the group for want of memory. */
  ranOutOfMemory(): Promise<boolean>;
  /** Removes the group; its processes must have ended. */
  remove(): Promise<void>;
}

/** Makes groups; where a process cannot be put into one (most containers, no delegation), there is none of these. */
export type ControlGroups = { create(limits: SandboxLimits): Promise<ControlGroup> };

/** The first place of this machine where a group can be made and a process put into it, swept of what killed servers have left there. */
export async function openControlGroups(
  limits: SandboxLimits,
  sorted = sortedNow(),
): Promise<ControlGroups | undefined> {
  for (const open of groupPlaces(sorted)) {
    const place = await open();
    if (place === undefined) continue;
    await sweep(place);
    if (await works(place, limits)) return { create: (limits) => createControlGroup(place, limits) };
  }
  return undefined;
}

/** The argv that, put before a command, moves it into the group. */
export function joinGroupArgv(group: ControlGroup | undefined): string[] {
  if (group === undefined) return [];
  return ["/bin/sh", "-c", 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"', "sh", group.folder];
}

async function createControlGroup(
  { parent, settings, oomFile }: GroupPlace,
  limits: SandboxLimits,
): Promise<ControlGroup> {
  const folder = join(parent, `manyhands-${process.pid}-${crypto.randomUUID()}`);
  await mkdir(folder);
  try {
    for (const { file, value, required } of settings) {
      const written = writeFile(join(folder, file), value(limits));
      await (required ? written : written.catch(() => {}));
    }
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
  return {
    folder,
    async ranOutOfMemory() {
      const counts = await readFile(join(folder, oomFile), "utf8").catch(() => "");
      return /^oom_kill [1-9]/m.test(counts);
    },
    remove: () => removeFolder(folder),
  };
}

/** Whether a process can be moved into a group of ours, which delegation may forbid although the group could be made. */
async function works(place: GroupPlace, limits: SandboxLimits): Promise<boolean> {
  const group = await createControlGroup(place, limits).catch(() => undefined);
  if (group === undefined) return false;
  const exitCode = await Bun.spawn([...joinGroupArgv(group), "/bin/true"], { env: {}, stderr: "ignore" }).exited;
  await group.remove();
  return exitCode === 0;
}

/** Removes the groups of processes of ours that were killed before they could. */
async function sweep({ parent }: GroupPlace): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const owner = /^manyhands-(\d+)-/.exec(name)?.[1];
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) await rmdir(join(parent, name)).catch(() => {});
  }
}

async function removeFolder(folder: string): Promise<void> {
  // The kernel lets go of the last process a moment after it is reaped.
  for (let attempt = 0; attempt < 50; attempt++) {
    const removed = await rmdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === "ENOENT",
    );
    if (removed) break;
    await Bun.sleep(20);
  }
}
