import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type LandlockRule, landlockAbi } from "../kernel/landlock.ts";
import { openWayArgv, type SandboxUser, stepDownArgv, unprivilegedUser } from "./step-down.ts";

/** Where a script's code is, and where it works. */
type ScriptPlace = { readonly code?: string; readonly folder?: string };

/** From here on truncation can be refused too. */
const lowestAbi = 3;

const system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/fonts", "/etc/localtime", "/proc", "/sys"];
const devices = ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"];

/** Our code, and what it imports. */
const ownCode = codeFolder(import.meta.dir);

/** What the launcher itself is made of. */
const launcherCode = resolve(import.meta.dir, "../..");

/**
 * What a folder of ours and all that it imports lie below: the outermost `node_modules` around the
 * package, or else the workspace.
 */
export function codeFolder(here: string): string {
  const [around] = here.split("/node_modules/", 1);
  return around === undefined || around === here ? resolve(here, "../../../..") : join(around, "node_modules");
}

/**
 * The argv that runs a script of ours (with what it imports below `code`, where that is not our
 * package, and `folder` as its argument) which handles what others wrote: never as root where root
 * can be given up, and where the kernel has Landlock, locked into reading the system and our code
 * and writing `folder`, without sockets; elsewhere as it is. A second line behind the script's own
 * care.
 */
export function ownScriptArgv(script: string, options: ScriptPlace = {}): string[] {
  const { code = ownCode, folder } = options;
  const user = userFor(folder, code);
  const argv = [...stepDownArgv(user), ...bunArgv(script), ...(folder === undefined ? [] : [folder])];
  const openWay = openWayArgv([...needed(code), ...(folder === undefined ? [] : [folder])], user);
  if (process.platform !== "linux" || landlockAbi() < lowestAbi) return [...openWay, ...argv];
  const rules: LandlockRule[] = [
    ...[...system, dirname(process.execPath), code].map((path) => ({ path, access: "read" as const })),
    // Bun finds what is installed by looking for its folder from the outside.
    ...(basename(code) === "node_modules" ? [{ path: dirname(code), access: "list" as const }] : []),
    ...devices.map((path) => ({ path, access: "write" as const })),
    ...(folder === undefined ? [] : [{ path: folder, access: "write" as const }]),
  ];
  return [...openWay, ...launcherArgv(rules, "keep", "refused"), ...argv];
}

function needed(code: string): string[] {
  return [code, launcherCode, dirname(process.execPath)];
}

/**
 * Whom a script becomes: the owner of the folder it works in, otherwise nobody. Undefined for
 * ourselves, as where a container's root may not become another.
 */
function userFor(folder: string | undefined, code: string): SandboxUser | undefined {
  const nobody = unprivilegedUser();
  if (nobody === undefined) return undefined;
  const { uid, gid } = folder === undefined ? nobody : statSync(folder);
  return uid !== 0 && canBecome(nobody, code) ? { uid, gid } : undefined;
}

const tried = new Map<string, boolean>();

/**
 * Whether another user can be become here and then still finds this code; tried once for each
 * folder of code.
 */
function canBecome(user: SandboxUser, code: string): boolean {
  const known = tried.get(code);
  if (known !== undefined) return known;
  const readable = ["/bin/sh", "-c", 'test -r "$1" && test -x "$2"', "sh", code, process.execPath];
  const argv = [...openWayArgv(needed(code), user), ...stepDownArgv(user), ...readable];
  const works = Bun.spawnSync(argv, { cwd: "/", env: {}, stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  tried.set(code, works);
  return works;
}

/**
 * The argv that locks what follows it in by rules of Landlock. The command's environment is kept as
 * it is, or unpacked; changes of a file's mode, owner and times are refused, or asked of whoever is
 * behind descriptor 3.
 */
export function launcherArgv(
  rules: readonly LandlockRule[],
  environment: "keep" | "unpack",
  changes: "refused" | "asked",
): string[] {
  return [...scriptArgv("landlock-launcher.ts"), JSON.stringify(rules), environment, changes];
}

/**
 * The argv of a supervisor, which ends with all that what follows it has started. It answers for a
 * launcher's changes of files with the rights that are named, its own or a user's; with `none`
 * nobody asks it.
 */
export function supervisorArgv(
  environment: "keep" | "unpack",
  rights: "none" | "self" | `${number}:${number}`,
): string[] {
  return [...scriptArgv("supervisor.ts"), environment, rights];
}

/** Runs one of the scripts beside this file with this Bun. */
function scriptArgv(name: string): string[] {
  return bunArgv(Bun.fileURLToPath(new URL(name, import.meta.url)));
}

/**
 * This Bun, which reads no settings from where it is started: a `bunfig.toml` there could name code
 * to run first.
 */
function bunArgv(script: string): string[] {
  return [process.execPath, "--no-env-file", "--config=/dev/null", script];
}
