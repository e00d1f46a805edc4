import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { isWithin } from "../kernel/mount-table.ts";
import { commandLineOf, innerPid, parentOf, processIds, sendSignal, userOf } from "../kernel/process-table.ts";
import { isOwnedByTheEnded } from "../process/owned-folder.ts";
import { unprivilegedUser } from "../process/step-down.ts";

/**
 * Ends what servers that were killed left in the middle of starting a sandbox: the first process of
 * a view, which waits for a word of its bwrap, and asks to die with it only when its view is
 * complete. Ends nothing but those whose bwrap is gone, that run as this server's commands do, and
 * whose workspace is below `home` or in a temporary folder of a server that has ended.
 */
export function endAbandonedStarts(home: string): void {
  if (process.platform !== "linux") return;
  const below = realpathSync(home);
  const uid = unprivilegedUser()?.uid ?? process.getuid?.();
  for (const pid of processIds()) {
    const workspace = workspaceOf(pid);
    if (workspace === undefined) continue;
    const isOurs = isWithin(workspace, below) || workspace.split("/").some(isOwnedByTheEnded);
    const isLeft = innerPid(pid) === 1 && workspaceOf(parentOf(pid)) === undefined;
    if (isOurs && isLeft && userOf(pid) === uid) sendSignal(pid, "SIGKILL");
  }
}

/**
 * The folder that a bwrap was told to show writable and to begin in; undefined if the process is
 * not a bwrap.
 */
function workspaceOf(pid: number): string | undefined {
  const [program = "", ...given] = commandLineOf(pid).split("\0");
  if (basename(program) !== "bwrap") return undefined;
  const workspace = given[given.indexOf("--chdir") + 1];
  return given.some((word, at) => word === "--bind" && given[at + 1] === workspace) ? workspace : undefined;
}
