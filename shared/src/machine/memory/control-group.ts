import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sendSignal } from "../kernel/process-table.ts";
import type { SandboxLimits } from "../sandbox/sandbox.ts";
import { type Count, type GroupPlace, groupPlaces, sortedNow } from "./group-place.ts";
import { commandBound, conversationBound, type MemoryBound } from "./memory-bound.ts";

/**
 * A control group that bounds memory (tmpfs included) and processes of one sandbox, inside one that
 * bounds its conversation's memory.
 */
export interface ControlGroup extends MemoryBound {
  /** The folder whose `cgroup.procs` a process writes itself into. */
  readonly folder: string;
}

/**
 * Creates groups. Unavailable where a process cannot be put into one (most containers, no
 * delegation).
 */
export type ControlGroups = { create(conversation: string, limits: SandboxLimits): Promise<ControlGroup> };

/**
 * Opens the first place on this machine where a group can be created and a process put into it, and
 * removes what killed servers have left there. `limits` are those of a conversation; a command may
 * have its own.
 */
export async function openControlGroups(
  limits: SandboxLimits,
  sorted = sortedNow(),
): Promise<ControlGroups | undefined> {
  for (const open of groupPlaces(sorted)) {
    const place = await open();
    if (place === undefined) continue;
    await sweep(place);
    const groups = conversationGroups(place, limits);
    if (await works(groups, limits)) return groups;
  }
  return undefined;
}

/** The argv that, put before a command, moves it into the group. */
export function joinGroupArgv(group: ControlGroup | undefined): string[] {
  if (group === undefined) return [];
  return ["/bin/sh", "-c", 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"', "sh", group.folder];
}

type Conversation = { readonly folder: Promise<string>; members: number };

/** A conversation's group exists while any of its commands runs. */
function conversationGroups(place: GroupPlace, shared: SandboxLimits): ControlGroups {
  const conversations = new Map<string, Conversation>();
  const leave = async (conversation: string, left: Conversation) => {
    left.members -= 1;
    if (left.members > 0) return;
    if (conversations.get(conversation) === left) conversations.delete(conversation);
    await removeFolder(await left.folder);
  };
  return {
    async create(conversation, limits) {
      const joined = conversations.get(conversation) ?? {
        folder: makeGroup(join(place.parent, `manyhands-${process.pid}-${crypto.randomUUID()}`), place.shared, shared),
        members: 0,
      };
      conversations.set(conversation, joined);
      joined.members += 1;
      try {
        const folder = await makeGroup(
          join(await joined.folder, `command-${crypto.randomUUID()}`),
          place.settings,
          limits,
        );
        const remove = async () => {
          await removeFolder(folder);
          await leave(conversation, joined);
        };
        return { folder, hit: hitsOf(folder, place, { own: limits, shared }), remove };
      } catch (error) {
        await leave(conversation, joined).catch(() => {});
        throw error;
      }
    },
  };
}

async function makeGroup(folder: string, settings: GroupPlace["settings"], limits: SandboxLimits): Promise<string> {
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
  return folder;
}

function hitsOf(folder: string, place: GroupPlace, bounds: Readonly<Record<"own" | "shared", SandboxLimits>>) {
  let told = 0;
  return async () => {
    const ended = await counted(folder, place.ended);
    if (ended <= told) return undefined;
    told = ended;
    const own = (await counted(folder, place.own)) > 0;
    return own ? commandBound(bounds.own.memoryBytes) : conversationBound(bounds.shared.memoryBytes);
  };
}

async function counted(folder: string, { file, word }: Count): Promise<number> {
  const text = await readFile(join(folder, file), "utf8").catch(() => "");
  const line = text.split("\n").find((line) => word === undefined || line.startsWith(`${word} `)) ?? "";
  return Number(line.slice(word?.length ?? 0));
}

/**
 * Whether a process can be moved into one of our groups, which delegation may forbid although the
 * group could be created.
 */
async function works(groups: ControlGroups, limits: SandboxLimits): Promise<boolean> {
  const group = await groups.create("", limits).catch(() => undefined);
  if (group === undefined) return false;
  const exitCode = await Bun.spawn([...joinGroupArgv(group), "/bin/true"], { env: {}, stderr: "ignore" }).exited;
  await group.remove();
  return exitCode === 0;
}

/**
 * Removes groups that our processes left behind when they were killed, and ends what is in them:
 * what a command without a process namespace started outlives a kill of all that watched it.
 */
async function sweep({ parent }: GroupPlace): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const owner = /^manyhands-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || existsSync(`/proc/${owner}`)) continue;
    const commands = (await readdir(join(parent, name)).catch(() => [])).filter((inner) =>
      inner.startsWith("command-"),
    );
    for (const inner of commands) await endAll(join(parent, name, inner));
    await removeFolder(join(parent, name));
  }
}

/** Ends the processes of a group and removes it. What they start meanwhile is in it too. */
async function endAll(folder: string): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const members = await readFile(join(folder, "cgroup.procs"), "utf8").catch(() => "");
    // One of another namespace is shown as 0, which would be this process's own group.
    for (const pid of members.split("\n").map(Number)) if (pid > 0) sendSignal(pid, "SIGKILL");
    if (members === "") break;
    await Bun.sleep(20);
  }
  await removeFolder(folder);
}

async function removeFolder(folder: string): Promise<void> {
  // The kernel releases the last process a moment after it is reaped.
  for (let attempt = 0; attempt < 50; attempt++) {
    const removed = await rmdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === "ENOENT",
    );
    if (removed) break;
    await Bun.sleep(20);
  }
}
