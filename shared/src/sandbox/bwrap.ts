import { bwrapProfile } from "./bwrap-profile.ts";
import type { ConfinedCommand, Confinement, WrappedCommand } from "./confinement.ts";
import { joinGroupArgv } from "./control-group.ts";
import { findProgram } from "./find-program.ts";
import { prlimitArgv } from "./limits.ts";
import { descendants, innerPid, readProcessTable, sendSignal } from "./process-table.ts";
import { createProtectedNames } from "./protected-names.ts";
import { openWayArgv, stepDownArgv, unprivilegedUser } from "./step-down.ts";

/** What a tier that stands on this one puts into the view and before the command. */
export type BwrapExtras = { readonly mounts: readonly string[]; readonly inner: readonly string[] };

/**
 * Confinement by bubblewrap with our own profile. As root we first open the way to the workspace and become nobody, so that one
 * unprivileged profile serves both cases and the number of processes is counted per sandbox.
 */
export function createBwrap(extras: BwrapExtras = { mounts: [], inner: [] }): Confinement {
  const bwrap = findProgram("bwrap");
  const prlimit = findProgram("prlimit");
  const user = unprivilegedUser();
  const stepDown = stepDownArgv(user);
  const names = createProtectedNames();
  return {
    tier: "bwrap",
    summary: "own file system view, own namespaces, no network",
    user,
    temporary: () => "/tmp",
    async wrap(command: ConfinedCommand): Promise<WrappedCommand> {
      const { workspace, group, paths } = command;
      const guard = await names.guard(workspace);
      return {
        argv: [
          ...joinGroupArgv(group),
          ...(await openWayArgv([workspace, ...(paths?.read ?? []), ...(paths?.write ?? [])], user)),
          ...stepDown,
          bwrap,
          ...(await bwrapProfile(workspace, [...pathMounts(paths), ...extras.mounts, ...guard.argv])),
          ...prlimitArgv(prlimit, command.limits, group !== undefined),
          ...extras.inner,
          ...command.argv,
        ],
        env: command.env,
        leader: secondOfNamespace,
        end: (started) => sendSignal(started, "SIGKILL"),
        release: guard.release,
      };
    },
    close: async () => {},
  };
}

function pathMounts(paths: ConfinedCommand["paths"]): string[] {
  const read = paths?.read.flatMap((path) => ["--ro-bind", path, path]) ?? [];
  return [...read, ...(paths?.write.flatMap((path) => ["--bind", path, path]) ?? [])];
}

/** bwrap's own init is process 1 of the namespace and starts the command as process 2. */
function secondOfNamespace(started: number): number | undefined {
  return descendants(readProcessTable(), started).find((pid) => innerPid(pid) === 2);
}
