import { dirname } from "node:path";
import { landlockAbi } from "./kernel.ts";
import type { LandlockRule } from "./landlock-rules.ts";
import { scriptArgv } from "./supervised.ts";

/** From here on truncation can be refused too. */
const lowestAbi = 3;

const system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/fonts", "/etc/localtime", "/proc", "/sys"];
const devices = ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"];

/**
 * The argv that runs a script of ours (with what it imports below `code`) which handles what others wrote: where the kernel has Landlock, locked into
 * reading the system and our code and writing `folder`, without sockets; elsewhere as it is. A second line behind the script's own care.
 */
export function ownScriptArgv(script: string, options: { readonly code: string; readonly folder?: string }): string[] {
  const argv = [process.execPath, "--no-env-file", script];
  if (process.platform !== "linux" || landlockAbi() < lowestAbi) return argv;
  const rules: LandlockRule[] = [
    ...[...system, dirname(process.execPath), options.code].map((path) => ({ path, access: "read" as const })),
    ...devices.map((path) => ({ path, access: "write" as const })),
    ...(options.folder === undefined ? [] : [{ path: options.folder, access: "write" as const }]),
  ];
  return [...scriptArgv("landlock-launcher.ts"), JSON.stringify(rules), ...argv];
}
