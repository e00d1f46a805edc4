import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SandboxLimits } from "./sandbox.ts";

/** A control group that bounds memory and processes of one sandbox together, tmpfs included. */
export interface ControlGroup {
  /** Folders (one, or one a controller) whose `cgroup.procs` a process writes itself into. */
  readonly folders: readonly string[];
  /** Whether the kernel has ended a process of the group for want of memory. */
  ranOutOfMemory(): Promise<boolean>;
  /** Removes the group; its processes must have ended. */
  remove(): Promise<void>;
}

type Setting = { readonly file: string; readonly value: (limits: SandboxLimits) => string; readonly required: boolean };
type Controller = { readonly parent: string; readonly settings: readonly Setting[]; readonly oomFile?: string };

const memoryMax = (limits: SandboxLimits) => String(limits.memoryBytes);
const processesMax = (limits: SandboxLimits) => String(limits.processes);

/** Makes a group for one sandbox, or answers undefined where this process may not (most containers, no delegation). */
export async function createControlGroup(limits: SandboxLimits): Promise<ControlGroup | undefined> {
  const controllers = findControllers();
  const name = `manyhands-${process.pid}-${crypto.randomUUID()}`;
  const made: string[] = [];
  try {
    for (const controller of controllers) {
      const folder = join(controller.parent, name);
      await mkdir(folder);
      made.push(folder);
      for (const { file, value, required } of controller.settings) {
        const written = writeFile(join(folder, file), value(limits));
        await (required ? written : written.catch(() => {}));
      }
    }
  } catch {
    await removeFolders(made);
    return undefined;
  }
  if (made.length === 0) return undefined;
  const oomFiles = controllers.flatMap(({ parent, oomFile }) => (oomFile ? [join(parent, name, oomFile)] : []));
  return {
    folders: made,
    async ranOutOfMemory() {
      const counts = await Promise.all(oomFiles.map((file) => readFile(file, "utf8").catch(() => "")));
      return counts.some((text) => /^oom_kill [1-9]/m.test(text));
    },
    remove: () => removeFolders(made),
  };
}

/** Removes the groups of processes of ours that were killed before they could. */
export async function sweepControlGroups(): Promise<void> {
  for (const { parent } of findControllers()) {
    for (const name of await readdir(parent).catch(() => [])) {
      const owner = /^manyhands-(\d+)-/.exec(name)?.[1];
      if (owner !== undefined && !isRunning(Number(owner))) await rmdir(join(parent, name)).catch(() => {});
    }
  }
}

/** The argv that, put before a command, moves it into the group. */
export function joinGroupArgv(group: ControlGroup | undefined): string[] {
  if (group === undefined) return [];
  const joins = group.folders.map((_, index) => `echo $$ >"$${index + 1}/cgroup.procs" &&`).join(" ");
  return ["/bin/sh", "-c", `${joins} shift ${group.folders.length} && exec "$@"`, "sh", ...group.folders];
}

/** Version 2 when it carries memory here, else version 1; a sibling of our own group where v2 forbids inner processes. */
function findControllers(): Controller[] {
  const own = readFileOrNothing("/proc/self/cgroup");
  const unified = /^0::(.*)$/m.exec(own)?.[1];
  if (unified !== undefined) {
    const parent = join("/sys/fs/cgroup", dirname(unified));
    const enabled = readFileOrNothing(join(parent, "cgroup.subtree_control")).split(/\s+/);
    if (enabled.includes("memory")) return [unifiedController(parent, enabled.includes("pids"))];
  }
  const memory = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(own)?.[1];
  if (memory === undefined) return [];
  return [
    {
      parent: join("/sys/fs/cgroup/memory", memory),
      settings: [{ file: "memory.limit_in_bytes", value: memoryMax, required: true }],
      oomFile: "memory.oom_control",
    },
  ];
}

function unifiedController(parent: string, countsProcesses: boolean): Controller {
  return {
    parent,
    settings: [
      { file: "memory.max", value: memoryMax, required: true },
      { file: "memory.swap.max", value: () => "0", required: false },
      ...(countsProcesses ? [{ file: "pids.max", value: processesMax, required: false }] : []),
    ],
    oomFile: "memory.events",
  };
}

async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
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
}

function isRunning(pid: number): boolean {
  return readFileOrNothing(`/proc/${pid}/stat`) !== "";
}

function readFileOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
