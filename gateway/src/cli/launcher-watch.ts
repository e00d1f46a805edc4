import { basename } from "node:path";
import { commandLineOf, parentOf } from "manyhands/internal/machine/kernel/process-table";
import { exitCodes } from "../terminal/exit-code.ts";

/** The process id of the installed command, which sets this and starts this process. */
const variable = "MANYHANDS_LAUNCHER_PID";

const lookMs = 500;
/** Longer than a system takes to drain. */
const graceMs = 30_000;

/** A process and its parent. */
type Link = readonly [child: number, parent: number];

/**
 * Ends this process, as SIGTERM does, once what it was started through is gone: the installed
 * command, which forwards no signal when it is killed outright, and the script runner above it
 * (`npx`, `bun run`), which forwards none either, or only to a shell in between. Watching does not
 * keep the process alive, and child processes don't inherit the variable.
 */
export function endWithLauncher(env: Record<string, string | undefined>): void {
  const launcher = Number(env[variable]);
  delete env[variable];
  const isLaunched = Number.isInteger(launcher) && launcher !== 0;
  const above: readonly Link[] =
    env.npm_execpath === undefined ? [] : linksToRunner(isLaunched ? launcher : process.pid);
  if (!isLaunched && above.length === 0) return;
  const watch = setInterval(() => {
    const isThere = !isLaunched || process.ppid === launcher;
    if (isThere && above.every(([child, parent]) => parentOf(child) === parent)) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.exit(exitCodes.canceled), graceMs).unref();
  }, lookMs);
  watch.unref();
}

/**
 * From a process up to the script runner that started it, directly or through the shell of a
 * script. Empty without one, and where the system does not show processes as Linux does.
 */
function linksToRunner(started: number): readonly Link[] {
  const parent = parentOf(started);
  if (isRunner(parent)) return [[started, parent]];
  const isShell = /^(ba|da|a|z)?sh\0-c\0/.test(commandLineOf(parent).replace(/^[^\0]*\//, ""));
  const above = parentOf(parent);
  return isShell && isRunner(above)
    ? [
        [started, parent],
        [parent, above],
      ]
    : [];
}

/**
 * Whether the process runs a script by its name; npm writes all of its command line as one word.
 */
function isRunner(pid: number): boolean {
  const [program = "", first = ""] = commandLineOf(pid).split(/[\0 ]/);
  const name = basename(program);
  return (
    /^(npm|npx|pnpm|yarn|bunx)$/.test(name) || (name === "bun" && /^[a-z][\w:-]*$/.test(first) && first !== "test")
  );
}
