import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../core/errno.ts";
import type { SandboxLimits } from "./sandbox.ts";

type Setting = { readonly file: string; readonly value: (limits: SandboxLimits) => string; readonly required: boolean };

/** A folder that groups are made in, and what is set in each. */
export type GroupPlace = { readonly parent: string; readonly settings: readonly Setting[]; readonly oomFile: string };

/** This process as the kernel sorts it: what /proc/self/cgroup says, and where the groups are mounted. */
export type Sorted = { readonly own: string; readonly mount: string };

/** Where our own processes go when the group they are in is to hold groups: one cannot hold both. */
const serversFolder = "manyhands-servers";
const attempts = 20;

const memoryMax = (limits: SandboxLimits) => String(limits.memoryBytes);
const processesMax = (limits: SandboxLimits) => String(limits.processes);

/** How this process is sorted now. */
export function sortedNow(): Sorted {
  return { own: readFileOrNothing("/proc/self/cgroup"), mount: "/sys/fs/cgroup" };
}

/**
 * The places where this process may be able to make groups, the likeliest first, each to be tried: beside its own group, and then, where a
 * service manager has left its own group to it (systemd's `Delegate=yes`), within that. A place is made ready when it is asked for; undefined
 * where that fails.
 */
export function groupPlaces({ own, mount }: Sorted): (() => Promise<GroupPlace | undefined>)[] {
  const unified = /^0::(.*)$/m.exec(own)?.[1];
  if (unified !== undefined) {
    const folder = join(mount, unified);
    const parent = dirname(folder);
    const beside = unified !== "/" && holds(parent, "subtree_control", "memory");
    const within = unified !== "/" && holds(folder, "controllers", "memory") && basename(folder) !== serversFolder;
    const places = [
      ...(beside ? [async () => unifiedPlace(parent)] : []),
      ...(within ? [() => withinOwn(folder)] : []),
    ];
    if (places.length > 0) return places;
  }
  const memory = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(own)?.[1];
  if (memory === undefined) return [];
  const settings = [{ file: "memory.limit_in_bytes", value: memoryMax, required: true }];
  return [async () => ({ parent: join(mount, "memory", memory), settings, oomFile: "memory.oom_control" })];
}

/** Moves what is in our own group, servers that were started with us too, one level down, and lets groups beside that have their bounds. */
async function withinOwn(folder: string): Promise<GroupPlace | undefined> {
  const control = join(folder, "cgroup.subtree_control");
  const servers = join(folder, serversFolder);
  try {
    await mkdir(servers, { recursive: true });
    for (let attempt = 0; attempt < attempts; attempt++) {
      const pids = (await readFile(join(folder, "cgroup.procs"), "utf8")).split("\n").filter((pid) => pid !== "");
      for (const pid of pids) await writeFile(join(servers, "cgroup.procs"), pid).catch(unlessGone);
      const opened = await writeFile(control, "+memory +pids").then(
        () => true,
        // A process that was being started came in between.
        (error) => (errnoOf(error) === "EBUSY" ? false : Promise.reject(error)),
      );
      if (opened) return unifiedPlace(folder);
    }
  } catch {
    // It is not ours to divide.
  }
  return undefined;
}

function unlessGone(error: unknown): void {
  if (errnoOf(error) !== "ESRCH") throw error;
}

function unifiedPlace(parent: string): GroupPlace {
  return {
    parent,
    settings: [
      { file: "memory.max", value: memoryMax, required: true },
      { file: "memory.swap.max", value: () => "0", required: false },
      ...(holds(parent, "subtree_control", "pids") ? [{ file: "pids.max", value: processesMax, required: false }] : []),
    ],
    oomFile: "memory.events",
  };
}

function holds(folder: string, file: "controllers" | "subtree_control", controller: string): boolean {
  return readFileOrNothing(join(folder, `cgroup.${file}`))
    .split(/\s+/)
    .includes(controller);
}

function readFileOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
