import { lstat, mkdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import { AppError, unlessMissing } from "../../core/errors.ts";
import { readProcessTable, sendSignal, tasksOf } from "../kernel/process-table.ts";
import { joinGroupArgv } from "../memory/control-group.ts";
import { carried } from "../process/environment.ts";
import { findProgram } from "../process/find-program.ts";
import { supervisorArgv } from "../process/own-script.ts";
import { type SandboxUser, stepDownArgv } from "../process/step-down.ts";
import { letOwnerIn } from "../sandbox/guarded-names.ts";
import type { SandboxLimits } from "../sandbox/sandbox.ts";
import type { ConfinedCommand, WrappedCommand } from "./confinement.ts";
import { prlimitArgv } from "./prlimit.ts";

/** Where TMPDIR is on tiers that cannot mount a private /tmp. */
export function temporaryIn(workspace: string): string {
  return join(workspace, ".tmp");
}

/**
 * Wraps a command for tiers without a PID namespace: our supervisor adopts whatever the command
 * leaves behind, and ends it when the command or this server ends. `confine` is the argv that locks
 * in what follows it, and refers its changes to files to the supervisor.
 */
export async function superviseCommand(
  command: ConfinedCommand,
  user: SandboxUser | undefined,
  confine: readonly string[],
): Promise<WrappedCommand> {
  if (command.first) throw new AppError("sandbox_unavailable", "There is no process namespace to be the first in.");
  const release = await shareTemporary(temporaryIn(command.workspace), user);
  return {
    argv: [
      ...joinGroupArgv(command.group),
      ...(confine.length === 0
        ? supervisorArgv("unpack", "none")
        : supervisorArgv("keep", user ? `${user.uid}:${user.gid}` : "self")),
      ...confine,
      ...endWithParentArgv(user),
      ...prlimitArgv(findProgram("prlimit"), besideOthers(command.limits, user), command.group !== undefined),
      ...changeFolderArgv(command.workspace),
      ...command.argv,
    ],
    env: carried(command.env),
    leader: eldestChild,
    end: (started) => sendSignal(started, "SIGTERM"),
    release,
  };
}

/** Without a user namespace the kernel counts all processes of this user on the machine. */
function besideOthers(limits: SandboxLimits, user: SandboxUser | undefined): SandboxLimits {
  const uid = user?.uid ?? process.getuid?.();
  return uid === undefined ? limits : { ...limits, processes: limits.processes + tasksOf(uid) };
}

const inTurn = createKeyedQueue();
const sharers = new Map<string, number>();

/**
 * Creates the folder for one more command; the returned function removes it with the last command
 * of this process that shares it.
 */
function shareTemporary(path: string, user: SandboxUser | undefined): Promise<() => Promise<void>> {
  return inTurn(path, async () => {
    await makeTemporary(path);
    if (user) await Bun.spawn([findProgram("chown"), "-h", `${user.uid}:${user.gid}`, path]).exited;
    sharers.set(path, (sharers.get(path) ?? 0) + 1);
    return () => inTurn(path, () => leaveTemporary(path));
  });
}

async function leaveTemporary(path: string): Promise<void> {
  const left = (sharers.get(path) ?? 1) - 1;
  if (left > 0) return void sharers.set(path, left);
  sharers.delete(path);
  // A folder that cannot be removed stays, like any file of the workspace.
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

/** Anything but a folder that an earlier command has put there would block every later one. */
async function makeTemporary(path: string): Promise<void> {
  const found = await lstat(path).catch(unlessMissing);
  if (found?.isDirectory()) return letOwnerIn(path);
  if (found !== undefined) await unlink(path).catch(unlessMissing);
  await mkdir(path, { recursive: true });
}

/** The supervisor starts the command before it can adopt anything. */
function eldestChild(supervisor: number): number | undefined {
  const children = [...readProcessTable().values()].filter(({ parent }) => parent === supervisor);
  return children.sort((one, other) => one.startedAt - other.startedAt)[0]?.pid;
}

/**
 * Gives up root, if there is a `user`. What follows ends with the supervisor even if that was
 * killed, and so ended nothing: one program does both, since a second could not be looked up in a
 * folder that is root's alone.
 */
function endWithParentArgv(user: SandboxUser | undefined): string[] {
  const [setpriv = findProgram("setpriv"), ...steps] = stepDownArgv(user);
  return [setpriv, "--pdeathsig=KILL", ...(steps.length > 0 ? steps : ["--"])];
}

function changeFolderArgv(workspace: string): string[] {
  return ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", workspace];
}
