import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { SandboxUser } from "./confinement.ts";
import { findProgram } from "./find-program.ts";

const nobody: SandboxUser = { uid: 65534, gid: 65534 };

/** The user to become before a command is started: nobody when we are root, otherwise none but ourselves. */
export function unprivilegedUser(): SandboxUser | undefined {
  return process.getuid?.() === 0 ? nobody : undefined;
}

/** The argv that, put before a command, gives up root for good. Empty for those who are not root. */
export function stepDownArgv(user: SandboxUser | undefined): string[] {
  if (user === undefined) return [];
  return [
    findProgram("setpriv"),
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    "--clear-groups",
    "--inh-caps=-all",
    "--bounding-set=-all",
    "--no-new-privs",
    "--",
  ];
}

/** `$1` is the closed folder, `$2` the workspace, which the shell holds on to while the folder above it is covered. */
const openWay = (mount: string) => `
umask 022 && cd "$2" && ${mount} -t tmpfs -o mode=0755 none "$1" && mkdir -p "$2" &&
${mount} --no-canonicalize --bind . "$2" && cd / && shift 2 && exec "$@"
`;

/**
 * The argv that opens the way to a workspace whose parents are closed to others (it may lie below /root): a mount namespace in
 * which the outermost closed parent holds nothing but the way. Needs root; empty where the way is open or we are not root. It becomes
 * what follows it rather than starting it: a process between us and the sandbox would outlive neither of them in order.
 */
export async function openWayArgv(workspace: string, user: SandboxUser | undefined): Promise<readonly string[]> {
  if (user === undefined) return [];
  const closed = await outermostClosedParent(workspace);
  if (closed === undefined) return [];
  const ownMounts = [findProgram("unshare"), "--mount", "--propagation", "private", "--"];
  return [...ownMounts, "/bin/sh", "-c", openWay(findProgram("mount")), "sh", closed, workspace];
}

async function outermostClosedParent(path: string): Promise<string | undefined> {
  let closed: string | undefined;
  for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & 0o001) === 0) closed = folder;
  }
  return closed;
}
