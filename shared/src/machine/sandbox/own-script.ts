import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { SandboxUser } from "./confinement.ts";
import { landlockAbi } from "./kernel.ts";
import type { LandlockRule } from "./landlock-rules.ts";
import { openWayArgv, stepDownArgv, unprivilegedUser } from "./step-down.ts";
import { bunArgv, scriptArgv } from "./supervised.ts";

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

/** What a folder of ours and all that it imports lie below: the outermost `node_modules` around the package, or else the workspace. */
export function codeFolder(here: string): string {
  const [around] = here.split("/node_modules/", 1);
  return around === undefined || around === here ? resolve(here, "../../../..") : join(around, "node_modules");
}

/**
 * The argv that runs a script of ours (with what it imports below `code`, where that is not our package, and `folder` as its argument) which handles what others wrote: never as root
 * where root can be given up, and where the kernel has Landlock, locked into reading the system and our code and writing `folder`, without sockets;
 * elsewhere as it is. A second line behind the script's own care.
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
  return [...openWay, ...scriptArgv("landlock-launcher.ts"), JSON.stringify(rules), "keep", "refused", ...argv];
}

function needed(code: string): string[] {
  return [code, launcherCode, dirname(process.execPath)];
}

/** Whom a script becomes: the owner of the folder it works in, otherwise nobody. Undefined for ourselves, as where a container's root may not become another. */
function userFor(folder: string | undefined, code: string): SandboxUser | undefined {
  const nobody = unprivilegedUser();
  if (nobody === undefined) return undefined;
  const { uid, gid } = folder === undefined ? nobody : statSync(folder);
  return uid !== 0 && canBecome(nobody, code) ? { uid, gid } : undefined;
}

const tried = new Map<string, boolean>();

/** Whether another user can be become here and then still finds this code; tried once for each folder of code. */
function canBecome(user: SandboxUser, code: string): boolean {
  const known = tried.get(code);
  if (known !== undefined) return known;
  const readable = ["/bin/sh", "-c", 'test -r "$1" && test -x "$2"', "sh", code, process.execPath];
  const argv = [...openWayArgv(needed(code), user), ...stepDownArgv(user), ...readable];
  const works = Bun.spawnSync(argv, { cwd: "/", env: {}, stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  tried.set(code, works);
  return works;
}
