import { join } from "node:path";
import type { Config } from "@manyhands/shared/config/config";
import { AppError } from "@manyhands/shared/errors";
import { describeAgent } from "../cli/agent-line.ts";
import { type AgentEntry, agentEntries } from "./agent-table.ts";
import { requireFreePort } from "./port.ts";
import type { ServerSpec } from "./server-process.ts";
import { defaultPolicy, type SupervisorEvent, supervise } from "./supervise.ts";

const graceMs = 20_000;

/** Everything `start` needs from outside; `say` shows a line to people. */
export type StartContext = {
  readonly root: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: Config;
  readonly say: (line: string) => void;
  /** Aborts when the system should drain and end. */
  readonly signal: AbortSignal;
};

/**
 * Starts every agent of this checkout and keeps them up until `signal` aborts, then drains them. Resolves with whether all ended on
 * request. Rejects with `unavailable` when a port is taken.
 */
export async function startAgents(context: StartContext): Promise<boolean> {
  const { config, signal } = context;
  const entries = agentEntries(context.root);
  if (entries.length === 0)
    throw new AppError("not_found", "There is no agent in this checkout (agents/*/src/server.ts).");
  for (const { name, portEnv } of entries) requireFreePort(name, config.server.host, config.agents[name].port, portEnv);
  let waiting = entries.length;
  let givenUp = 0;
  const report = (event: SupervisorEvent) => {
    const isFirst = event.type === "server-given-up" || (event.type === "server-up" && event.restarts === 0);
    if (event.type === "server-given-up") givenUp++;
    void tell(event, context.say).then(() => {
      if (isFirst && --waiting === 0 && givenUp < entries.length && !signal.aborted) context.say(upMessage(config));
    });
  };
  await Promise.all(
    entries.map((entry) => supervise(specOf(entry, context), { signal, graceMs, policy: defaultPolicy, report })),
  );
  return givenUp === 0;
}

async function tell(event: SupervisorEvent, say: (line: string) => void): Promise<void> {
  if (event.type === "server-up") {
    const again = event.restarts === 0 ? "" : `  (restart ${event.restarts})`;
    say(`  ${await describeAgent(event.name, event.url)}${again}`);
  } else if (event.type === "server-down")
    say(`${event.reason}\n  Starting it again in ${event.restartInMs / 1000} s.`);
  else say(`${event.reason}\n  Given up on ${event.name}. Mend the cause and start again.`);
}

function upMessage(config: Config): string {
  return `Up. State is in ${config.home}, logs in ${join(config.home, "logs")}. Ctrl-C stops.`;
}

function specOf(entry: AgentEntry, { config, cwd, env }: StartContext): ServerSpec {
  const { port, url } = config.agents[entry.name];
  return {
    name: entry.name,
    entry: entry.entry,
    cwd,
    env: {
      ...env,
      PORT: String(port),
      HOST: config.server.host,
      ...(port === 0 ? {} : { PUBLIC_URL: url }),
      MANYHANDS_HOME: config.home,
      MANYHANDS_CONFIG: config.file,
    },
    logPath: join(config.home, "logs", `${entry.name}.log`),
  };
}
