import { exitCodes } from "../terminal/exit-code.ts";

/** The process id of the installed command, which sets this and starts this process. */
const variable = "MANYHANDS_LAUNCHER_PID";

const lookMs = 500;
/** Longer than a system takes to drain. */
const graceMs = 30_000;

/**
 * Ends this process, as SIGTERM does, once the installed command that started it is gone: killed
 * outright, it forwards no signal. Watching does not keep the process alive, and child processes
 * don't inherit the variable.
 */
export function endWithLauncher(env: Record<string, string | undefined>): void {
  const launcher = Number(env[variable]);
  delete env[variable];
  if (!Number.isInteger(launcher) || launcher === 0) return;
  const watch = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.exit(exitCodes.canceled), graceMs).unref();
  }, lookMs);
  watch.unref();
}
