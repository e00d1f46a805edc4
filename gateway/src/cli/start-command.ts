import type { CliContext } from "../session/context.ts";
import { startAgents } from "../supervisor/start.ts";
import { exitCodes } from "../terminal/exit-code.ts";
import { onInterrupt } from "../terminal/interrupts.ts";

/** Starts the agents and stays until Ctrl-C or SIGTERM, which drains them; a second one ends this process, and with it theirs, at once. */
export async function startCommand(options: { readonly config?: string }, context: CliContext): Promise<number> {
  const { terminal } = context;
  const config = await context.configure(options.config);
  for (const note of config.notes) terminal.say(note);
  const drain = new AbortController();
  const interrupts = onInterrupt(
    () => {
      terminal.say("\nStopping: running tasks come to a halt and go on at the next start.");
      drain.abort();
    },
    () => process.exit(exitCodes.canceled),
  );
  try {
    const { root, cwd, env } = context;
    const sound = await startAgents({ root, cwd, env, config, say: terminal.say, signal: drain.signal });
    return sound ? exitCodes.ok : exitCodes.failed;
  } finally {
    interrupts.dispose();
  }
}
