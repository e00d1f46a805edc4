import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../core/errors.ts";
import type { SandboxLimits } from "../sandbox/sandbox.ts";

type Setting = { readonly file: string; readonly value: (limits: SandboxLimits) => string; readonly required: boolean };

/**
 * Where the kernel counts an event of a group: a line of a file that begins with a word, or the
 * file alone.
 */
export type Count = { readonly file: string; readonly word?: string };

/**
 * A folder in which the groups of conversations are created, with the groups of commands inside
 * those; and what is set and counted in each.
 */
export type GroupPlace = {
  readonly parent: string;
  readonly shared: readonly Setting[];
  readonly settings: readonly Setting[];
  /** Processes killed for lack of memory. */
  readonly ended: Count;
  /** How often the group's own bound was hit, as opposed to the shared one. */
  readonly own: Count;
};

/**
 * This process's place in the kernel's tree: the text of /proc/self/cgroup, and where the groups
 * are mounted.
 */
export type Sorted = { readonly own: string; readonly mount: string };

/** Where our own processes move when their group must contain groups: it cannot contain both. */
const serversFolder = "manyhands-servers";
const attempts = 20;

const memoryMax = (limits: SandboxLimits) => String(limits.memoryBytes);
const processesMax = (limits: SandboxLimits) => String(limits.processes);

/** This process's place now. */
export function sortedNow(): Sorted {
  return { own: readFileOrNothing("/proc/self/cgroup"), mount: "/sys/fs/cgroup" };
}

/**
 * The places where this process may be able to create groups, the likeliest first: beside its own
 * group, and then, where a service manager has delegated its own group to it (systemd's
 * `Delegate=yes`), inside that. Each is a function that prepares the place; undefined where that
 * fails.
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
  const bound = { file: "memory.limit_in_bytes", value: memoryMax, required: true };
  // Newer kernels always count this way.
  const counted = { file: "memory.use_hierarchy", value: () => "1", required: false };
  return [
    async () => ({
      parent: join(mount, "memory", memory),
      shared: [counted, bound],
      settings: [bound],
      ended: { file: "memory.oom_control", word: "oom_kill" },
      own: { file: "memory.failcnt" },
    }),
  ];
}

/**
 * Moves the processes of our own group, including servers started with us, one level down, so that
 * new groups next to that level can have bounds.
 */
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
        // A process that was just being started interfered.
        (error) => (errnoOf(error) === "EBUSY" ? false : Promise.reject(error)),
      );
      if (opened) return unifiedPlace(folder);
    }
  } catch {
    // We may not divide this group.
  }
  return undefined;
}

function unlessGone(error: unknown): void {
  if (errnoOf(error) !== "ESRCH") throw error;
}

function unifiedPlace(parent: string): GroupPlace {
  const memory: Setting[] = [
    { file: "memory.max", value: memoryMax, required: true },
    { file: "memory.swap.max", value: () => "0", required: false },
  ];
  const countsProcesses = holds(parent, "subtree_control", "pids");
  const controllers = countsProcesses ? "+memory +pids" : "+memory";
  return {
    parent,
    shared: [...memory, { file: "cgroup.subtree_control", value: () => controllers, required: true }],
    settings: [...memory, ...(countsProcesses ? [{ file: "pids.max", value: processesMax, required: false }] : [])],
    ended: { file: "memory.events", word: "oom_kill" },
    own: { file: "memory.events", word: "oom" },
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
