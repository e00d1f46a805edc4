import { exitCodes } from "../terminal/exit-code.ts";

/** Set by the installed command, which starts this process, to the id of its own. */
const variable = "MANYHANDS_LAUNCHER_PID";

const lookMs = 500;
/** Longer than a system takes to drain. */
const graceMs = 30_000;

/**
 * Ends this process, as SIGTERM does, once the installed command that started it is gone: one that
 * was killed outright passed no signal on. Watching keeps no process alive, and nothing that is
 * started from here hears of it.
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
