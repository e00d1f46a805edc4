import { statSync } from "node:fs";
import { dirname, relative } from "node:path";
import { isWithin } from "../kernel/mount-table.ts";
import { findProgram } from "./find-program.ts";

/** The user that confined processes run as, where that is not our own. */
export type SandboxUser = { readonly uid: number; readonly gid: number };

const nobody: SandboxUser = { uid: 65534, gid: 65534 };

/**
 * The user to become before a command is started: nobody when we are root, otherwise none but
 * ourselves.
 */
export function unprivilegedUser(): SandboxUser | undefined {
  return process.getuid?.() === 0 ? nobody : undefined;
}

/**
 * The argv that, put before a command, gives up root for good. Empty for those who are not root.
 */
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

/**
 * Pairs of a closed folder and a path in it, up to `--`; the shell holds on to the folder while it
 * is covered. Pairs of one folder are neighbours.
 */
const openWays = (mount: string) => `
umask 022; held=
while [ "$1" != -- ]; do
  if [ "$1" != "$held" ]; then held=$1; cd "$1" && ${mount} -t tmpfs -o mode=0755 none "$1" || exit 126; fi
  if [ -d "./$2" ]; then mkdir -p "$1/$2"; else mkdir -p "$(dirname "$1/$2")" && : >>"$1/$2"; fi || exit 126
  ${mount} --no-canonicalize --bind "./$2" "$1/$2" || exit 126
  shift 2
done
cd / && shift && exec "$@"
`;

/**
 * The argv that opens the ways to paths whose parents are closed to others (they may lie below the
 * owner's home): a mount namespace in which the outermost closed parents hold nothing but these
 * ways. Needs root; empty where all are open or we are not root. It becomes what follows it rather
 * than starting it: a process between us and the sandbox would outlive neither of them in order.
 * Throws when a path is not there.
 */
export function openWayArgv(paths: readonly string[], user: SandboxUser | undefined): readonly string[] {
  if (user === undefined) return [];
  // What lies in another way comes with it, and is not looked for in a folder that others may
  // change.
  const outer = paths.filter((path) => !paths.some((other) => other !== path && isWithin(path, other)));
  const ways = outer.map((path) => ({ path, closed: outermostClosedParent(path) }));
  const pairs = ways.flatMap(({ path, closed }) => (closed === undefined ? [] : [[closed, relative(closed, path)]]));
  if (pairs.length === 0) return [];
  const ordered = pairs.toSorted().flat();
  const ownMounts = [findProgram("unshare"), "--mount", "--propagation", "private", "--"];
  return [...ownMounts, "/bin/sh", "-c", openWays(findProgram("mount")), "sh", ...ordered, "--"];
}

function outermostClosedParent(path: string): string | undefined {
  let closed: string | undefined;
  for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) {
    const { mode } = statSync(folder);
    if ((mode & 0o001) === 0) closed = folder;
  }
  return closed;
}
