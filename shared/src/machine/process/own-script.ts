import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type LandlockRule, landlockAbi } from "../kernel/landlock.ts";
import { openWayArgv, type SandboxUser, stepDownArgv, unprivilegedUser } from "./step-down.ts";

/**
 * Where a script's code is, the folder it works in, another that it only reads, and whether it may
 * use the network.
 */
type ScriptPlace = {
  readonly code?: string;
  readonly folder?: string;
  readonly reads?: string;
  readonly network?: boolean;
};

/** The first ABI that can refuse truncation too. */
const lowestAbi = 3;

const system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/fonts", "/etc/localtime", "/proc", "/sys"];
const devices = ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"];

/**
 * What of a checkout is code that a script imports, or says how to: the home, the settings with
 * their keys and the history lie beside it.
 */
const codeOfCheckout = ["shared", "node_modules", "package.json", "tsconfig.json", "tsconfig.base.json"];

/** Our code, and what it imports. */
const ownCode = codeFolder(import.meta.dir);

/** The launcher's own code. */
const launcherCode = resolve(import.meta.dir, "../..");

/**
 * The folder that contains one of our folders and everything it imports: the outermost
 * `node_modules` around the package, or else the workspace.
 */
export function codeFolder(here: string): string {
  const [around] = here.split("/node_modules/", 1);
  return around === undefined || around === here ? resolve(here, "../../../..") : join(around, "node_modules");
}

/**
 * The argv that runs one of our scripts on files or text that others wrote (`code`: the folder with
 * its imports, if that is not our package; `folder` and `reads`: its arguments). It never runs as
 * root where root can be given up. Where the kernel has Landlock, it can only read the system, our
 * code and `reads`, and write `folder`, without sockets; elsewhere, and with `network`, it runs
 * unconfined. A second line of defence behind the script's own care.
 */
export function ownScriptArgv(script: string, options: ScriptPlace = {}): string[] {
  const { code = ownCode, folder, reads } = options;
  const user = userFor(folder, code);
  const given = [folder, reads].filter((path) => path !== undefined);
  const argv = [...stepDownArgv(user), ...bunArgv(script), ...given];
  const openWay = openWayArgv([...needed(code), ...given], user);
  if (options.network === true || process.platform !== "linux" || landlockAbi() < lowestAbi)
    return [...openWay, ...argv];
  const isInstalled = basename(code) === "node_modules";
  const codePaths = isInstalled ? [code] : codeOfCheckout.map((name) => join(code, name));
  const readable = [...system, dirname(process.execPath), ...codePaths, ...(reads === undefined ? [] : [reads])];
  const rules: LandlockRule[] = [
    ...readable.map((path) => ({ path, access: "read" as const })),
    // Bun finds installed packages by looking for their folder from the outside.
    ...(isInstalled ? [{ path: dirname(code), access: "list" as const }] : []),
    ...devices.map((path) => ({ path, access: "write" as const })),
    ...(folder === undefined ? [] : [{ path: folder, access: "write" as const }]),
  ];
  return [...openWay, ...launcherArgv(rules, "keep", "refused"), ...argv];
}

function needed(code: string): string[] {
  return [code, launcherCode, dirname(process.execPath)];
}

/**
 * The user a script becomes: the owner of the folder it works in, otherwise nobody. Undefined means
 * our own user, for example where a container's root may not become another.
 */
function userFor(folder: string | undefined, code: string): SandboxUser | undefined {
  const nobody = unprivilegedUser();
  if (nobody === undefined) return undefined;
  const { uid, gid } = folder === undefined ? nobody : statSync(folder);
  return uid !== 0 && canBecome(nobody, code) ? { uid, gid } : undefined;
}

const tried = new Map<string, boolean>();

/**
 * Whether we can become another user here who can still read this code; tried once for each folder
 * of code.
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
 * The argv that locks in what follows it with Landlock rules. The command's environment is kept as
 * it is, or unpacked; changes of a file's mode, owner and times are refused, or answered at the
 * other end of descriptor 3.
 */
export function launcherArgv(
  rules: readonly LandlockRule[],
  environment: "keep" | "unpack",
  changes: "refused" | "asked",
): string[] {
  return [...scriptArgv("landlock-launcher.ts"), JSON.stringify(rules), environment, changes];
}

/**
 * The argv of a supervisor, which ends together with everything that the command after it has
 * started. It answers a launcher's changes of files with the named rights, its own or a user's;
 * with `none` it is not asked.
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
 * This Bun, without settings from the folder it is started in: a `bunfig.toml` there could name
 * code to run first.
 */
function bunArgv(script: string): string[] {
  return [process.execPath, "--no-env-file", "--config=/dev/null", script];
}
