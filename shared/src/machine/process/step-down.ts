import { statSync } from "node:fs";
import { dirname, relative } from "node:path";
import { isWithin } from "../kernel/mount-table.ts";
import { findProgram } from "./find-program.ts";

/** The user that confined processes run as, if not our own. */
export type SandboxUser = { readonly uid: number; readonly gid: number };

const nobody: SandboxUser = { uid: 65534, gid: 65534 };

/**
 * The user to become before a command is started: nobody when we are root, otherwise undefined, for
 * our own.
 */
export function unprivilegedUser(): SandboxUser | undefined {
  return process.getuid?.() === 0 ? nobody : undefined;
}

/** The argv that, put before a command, gives up root for good. Empty without a `user`. */
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
 * Takes pairs of a closed folder and a path in it, up to `--`; the shell keeps the folder as its
 * working directory while it is covered. Pairs of one folder are adjacent.
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
 * The argv that makes paths reachable whose parents are closed to others (they may be below the
 * owner's home): a mount namespace in which the outermost closed parents contain nothing but these
 * paths. Needs root; empty if all are open or we are not root. It becomes what follows it instead
 * of starting it: an extra process between us and the sandbox would break the order in which they
 * end. Throws when a path does not exist.
 */
export function openWayArgv(paths: readonly string[], user: SandboxUser | undefined): readonly string[] {
  if (user === undefined) return [];
  // A path inside another one comes with it, and is not looked up in a folder that others may
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
