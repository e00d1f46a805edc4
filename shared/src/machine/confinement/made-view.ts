import { closeSync, realpathSync, writeSync } from "node:fs";
import * as z from "zod";
import { AppError, errnoOf } from "../../core/errors.ts";
import { isWithin, type Mount, readMounts, shownAt } from "../kernel/mount-table.ts";

/** What a view is to have of this machine. */
export type OrderedView = {
  /**
   * The system's own folders and files, where there are such; what they are no sandbox can change.
   */
  readonly system: readonly string[];
  /** Folders and files beside those, which others may change. */
  readonly shown: readonly string[];
  /** What shows them at another place. */
  readonly moved: readonly { readonly at: string; readonly source: string }[];
};

/** A view in the making takes milliseconds; this is for a machine that is very busy. */
const patienceMs = 30_000;
/** Mounts come and go while the making ends; what is wrong for longer than this stays so. */
const settleMs = 250;
const pauseMs = 1;

const made = z.object({ "child-pid": z.int() });

/** Our ends of bwrap's `--info-fd` and `--seccomp`, and the filter that is owed to the second. */
export type ViewGate = { readonly info: number; readonly filterEnd: number; readonly filter: Uint8Array };

/**
 * Lets a command run once its view is made and shows what was ordered and nothing else, and answers
 * the first process in it; undefined when bwrap gave up, which it says on its standard error. The
 * command is held by its filter, which bwrap reads when all is mounted and without which it runs
 * nothing: should this process end first, nothing is let run. Rejects with `sandbox_unavailable`
 * when the view is another, which means that names were changed under the hands of bwrap.
 */
export async function admitView({ info, filterEnd, filter }: ViewGate, ordered: OrderedView) {
  try {
    const told = made.safeParse(parsed(await new Response(Bun.file(info).stream()).text()));
    if (!told.success || !(await settled(told.data["child-pid"], ordered))) return undefined;
    writeSync(filterEnd, filter);
    return told.data["child-pid"];
  } finally {
    for (const end of [info, filterEnd]) closeSync(end);
  }
}

/** Whether the view came to be as ordered; not when its making has ended by itself. */
async function settled(pid: number, ordered: OrderedView): Promise<boolean> {
  const started = performance.now();
  let wrongSince: number | undefined;
  for (;;) {
    const view = mountsOf(pid);
    if (view === undefined) return false;
    const fault = faultOf(view, readMounts("self"), ordered);
    if (fault === undefined) return true;
    const now = performance.now();
    wrongSince = fault === "unfinished" ? undefined : (wrongSince ?? now);
    if (now - started > patienceMs || now - (wrongSince ?? now) > settleMs)
      throw new AppError("sandbox_unavailable", `the view is not as it was ordered: ${fault}`);
    await Bun.sleep(pauseMs);
  }
}

function mountsOf(pid: number): Mount[] | undefined {
  try {
    return readMounts(pid);
  } catch (error) {
    if (["ENOENT", "ESRCH", "EINVAL"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

/**
 * What is wrong with a view: undefined when all that was ordered is there, and nothing else of this
 * machine is, and each mount shows what lies at that very place; `unfinished` while bwrap is at
 * work.
 */
export function faultOf(view: readonly Mount[], host: readonly Mount[], ordered: OrderedView): string | undefined {
  const { system, shown, moved } = ordered;
  const root = view.find(({ at }) => at === "/");
  const devices = new Set(host.map(({ device }) => device));
  if (root === undefined || devices.has(root.device) || view.some(({ at }) => /^\/(?:new|old)root(?:\/|$)/.test(at)))
    return "unfinished";
  // A file system that is not among ours was made for the view, and is empty.
  const ours = view.filter(({ device }) => devices.has(device));
  const wrong = ours.find((mount) => {
    const source = moved.find(({ at }) => at === mount.at)?.source;
    if (source !== undefined) return !shows(mount, host, source);
    if (shown.includes(mount.at)) return !shows(mount, host, mount.at);
    if (system.includes(mount.at)) return !shows(mount, host, realpathSync(mount.at));
    // What is mounted below a folder comes with it.
    const below = [...system, ...shown].some((place) => isWithin(mount.at, place));
    return (
      !below || !host.some(({ at, device, root }) => at === mount.at && device === mount.device && root === mount.root)
    );
  });
  if (wrong !== undefined) return `${wrong.at} shows ${wrong.root}`;
  const places = new Set(ours.map(({ at }) => at));
  const missing = [...shown, ...moved.map(({ at }) => at)].find((path) => !places.has(path));
  return missing === undefined ? undefined : `${missing} is not mounted`;
}

function shows({ device, root }: Mount, host: readonly Mount[], path: string): boolean {
  const there = shownAt(host, path);
  return there?.device === device && there.root === root;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
