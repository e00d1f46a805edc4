import { join } from "node:path";
import type { Config } from "manyhands/internal/config/config";
import { engineText } from "manyhands/internal/config/storage/engine-config";
import type { CliContext } from "../session/context.ts";
import { publicUrlOf } from "../supervisor/server-table.ts";
import { type SystemEvent, startAgents } from "../supervisor/start.ts";
import { troubleText } from "../supervisor/supervise.ts";
import { describeAgent } from "../terminal/agent-line.ts";
import { exitCodes } from "../terminal/exit-code.ts";
import { onInterrupt } from "../terminal/interrupts.ts";

/**
 * Starts the agents and the gateway. Ctrl-C or SIGTERM drains them; a second one ends them at once.
 * Ends with 2 if a server refused its configuration, with 1 if another was given up.
 */
export async function startCommand(options: { readonly config?: string }, context: CliContext): Promise<number> {
  const { terminal } = context;
  const config = await context.configure(options.config);
  for (const note of config.notes) terminal.say(note);
  const drain = new AbortController();
  const interrupts = onInterrupt(
    () => {
      terminal.say("\nStopping: running tasks resume at the next start.");
      drain.abort();
    },
    () => process.exit(exitCodes.canceled),
  );
  let printed = Promise.resolve();
  let failure: number = exitCodes.failed;
  const report = (event: SystemEvent, held: Config) => {
    if (event.type === "server-given-up" && event.code === "config_invalid") failure = exitCodes.usage;
    printed = printed.then(async () => terminal.say(await eventText(event, held)));
  };
  try {
    const { root, cwd, env } = context;
    const sound = await startAgents({ root, cwd, env, config, report, signal: drain.signal });
    await printed;
    return sound ? exitCodes.ok : failure;
  } finally {
    interrupts.dispose();
  }
}

async function eventText(event: SystemEvent, config: Config): Promise<string> {
  switch (event.type) {
    case "system-up":
      return `${event.without.length === 0 ? "Up." : `Up without ${event.without.join(", ")}.`} State is in ${config.home}${elsewhere(config)}, logs in ${join(config.home, "logs")}. Press Ctrl-C to stop.`;
    case "server-up": {
      const again = event.restarts === 0 ? "" : `  (restart ${event.restarts})`;
      return `  ${await serverLine(event, config)}${again}`;
    }
    case "server-down":
      return troubleText(event);
    case "server-given-up":
      return `${troubleText(event)} Fix the cause and start again.`;
  }
}

async function serverLine({ name, url }: { readonly name: string; readonly url: string }, config: Config) {
  if (name !== "gateway") return describeAgent(name, url, config.server.tls?.client);
  return `gateway  ${[...new Set([url, publicUrlOf({ name }, config)])].join("  ·  ")}`;
}

/** Where the runs are, if not in the home. */
function elsewhere({ engine, home }: Config): string {
  return engine.kind === "embedded" ? "" : ` (runs: ${engineText(engine, home)})`;
}
