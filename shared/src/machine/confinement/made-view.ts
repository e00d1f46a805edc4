import { closeSync, realpathSync, writeSync } from "node:fs";
import * as z from "zod";
import { AppError, errnoOf } from "../../core/errors.ts";
import { jsonOf } from "../../core/json.ts";
import { isWithin, type Mount, readMounts, shownAt } from "../kernel/mount-table.ts";

/** What a view must show of this machine. */
export type OrderedView = {
  /** The system's own folders and files, where they exist; no sandbox can change what they are. */
  readonly system: readonly string[];
  /** Other folders and files, which others may change. */
  readonly shown: readonly string[];
  /** Files and folders shown at another place. */
  readonly moved: readonly { readonly at: string; readonly source: string }[];
};

/** Creating a view takes milliseconds; this allows for a very busy machine. */
const patienceMs = 30_000;
/**
 * Mounts come and go while the view is being completed; a fault that lasts longer than this is
 * permanent.
 */
const settleMs = 250;
const pauseMs = 1;

const made = z.object({ "child-pid": z.int() });

/**
 * Our ends of bwrap's `--info-fd` and `--seccomp`, and the filter that must be sent to the latter;
 * `told` hears the view's first process as soon as it is known.
 */
export type ViewGate = {
  readonly info: number;
  readonly filterEnd: number;
  readonly filter: Uint8Array;
  readonly told: (first: number) => void;
};

/**
 * Lets a command run once its view exists and shows what was ordered and nothing else. Returns
 * false when bwrap gave up, which it reports on its standard error. The filter holds the command
 * back: bwrap reads it when everything is mounted, and runs nothing without it, so if this process
 * ends first, nothing runs. Rejects with `sandbox_unavailable` when the view differs, which means
 * that names were changed while bwrap mounted them.
 */
export async function admitView({ info, filterEnd, filter, told }: ViewGate, ordered: OrderedView): Promise<boolean> {
  try {
    const { data } = made.safeParse(jsonOf(await new Response(Bun.file(info).stream()).text()));
    if (data === undefined) return false;
    told(data["child-pid"]);
    if (!(await settled(data["child-pid"], ordered))) return false;
    writeSync(filterEnd, filter);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EPIPE") throw error;
    // Killed in the meantime.
    return false;
  } finally {
    for (const end of [info, filterEnd]) closeSync(end);
  }
}

/** Whether the view came out as ordered; false if its creation ended by itself. */
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

/** Whether a process still sees what was ordered, and nothing else. */
export function viewHolds(pid: number, ordered: OrderedView): boolean {
  const view = mountsOf(pid);
  return view !== undefined && faultOf(view, readMounts("self"), ordered) === undefined;
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
 * The fault of a view: undefined when everything ordered is there, nothing else of this machine is,
 * and each mount shows the file at exactly that place; `unfinished` while bwrap is still at work.
 */
export function faultOf(view: readonly Mount[], host: readonly Mount[], ordered: OrderedView): string | undefined {
  const { system, shown, moved } = ordered;
  const root = view.find(({ at }) => at === "/");
  const devices = new Set(host.map(({ device }) => device));
  if (root === undefined || devices.has(root.device) || view.some(({ at }) => /^\/(?:new|old)root(?:\/|$)/.test(at)))
    return "unfinished";
  // A file system that is not among ours was created for the view, and is empty.
  const ours = view.filter(({ device }) => devices.has(device));
  const wrong = ours.find((mount) => {
    const source = moved.find(({ at }) => at === mount.at)?.source;
    if (source !== undefined) return !shows(mount, host, source);
    if (shown.includes(mount.at)) return !shows(mount, host, mount.at);
    if (system.includes(mount.at)) return !shows(mount, host, realpathSync(mount.at));
    // Mounts below a folder come with it.
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
