import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { errnoOf } from "../../core/errors.ts";
import { version } from "../../core/release.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import { isWithin, readMounts } from "../kernel/mount-table.ts";
import { sandboxPath } from "../process/environment.ts";

/** Everything that a tier starts, on the server's PATH. */
const programs = ["bwrap", "prlimit", "setpriv", "unshare", "mount", "chown", "socat", "rg"];

/** What the kernel allows this process, which can change while the machine runs. */
const rules = [
  "/proc/sys/kernel/random/boot_id",
  "/proc/sys/user/max_user_namespaces",
  "/proc/sys/kernel/unprivileged_userns_clone",
  "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
  "/proc/sys/kernel/yama/ptrace_scope",
  "/proc/self/cgroup",
];

const ownRooms = ["confinement", "kernel", "memory", "process", "sandbox"];

/**
 * Changes whenever commands might be confined in another way than when it was last the same: with
 * the boot, what the kernel allows this process, the programs, our code, and the file system of
 * `folder`.
 */
export function confinementFingerprint(folder: string): string {
  const facts = [
    version,
    Bun.version,
    process.geteuid?.(),
    process.getegid?.(),
    ...["user", "mnt"].map((name) => readlinkSync(`/proc/self/ns/${name}`)),
    // What covers parts of /proc decides whether a view can have its own.
    readMounts("self").filter(({ at }) => isWithin(at, "/proc")),
    statusLines(/^(?:Groups|Cap\w+|NoNewPrivs|Seccomp\w*):.*$/gm),
    ...rules.map(readRules),
    ...programs.map((name) => identityOf(Bun.which(name, { PATH: process.env.PATH ?? "" }))),
    ...ownRooms.map((room) => modulesIn(resolve(import.meta.dir, "..", room))),
    statSync(folder).dev,
  ];
  return sha256Of(JSON.stringify(facts));
}

/**
 * Changes whenever commands might see another Python, or other libraries in the folders where it
 * looks for them.
 */
export function pythonFingerprint(folders: readonly string[]): string {
  return JSON.stringify([identityOf(Bun.which("python3", { PATH: sandboxPath })), ...folders.map(changeOf)]);
}

/** Which file a program is; null if there is none. */
function identityOf(path: string | null): string | null {
  if (path === null) return null;
  const real = realpathSync(path);
  const { dev, ino, size, mtimeMs } = statSync(real);
  return [real, dev, ino, size, mtimeMs].join(" ");
}

function modulesIn(folder: string): string[] {
  return readdirSync(folder).map((name) => `${folder}/${name} ${changeOf(join(folder, name))}`);
}

/** When a file or a folder's list of names last changed; null if it is not there. */
function changeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

function statusLines(wanted: RegExp): string[] {
  return readFileSync("/proc/self/status", "utf8").match(wanted) ?? [];
}

/** Undefined for rules that this kernel does not have, or does not show. */
function readRules(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}
