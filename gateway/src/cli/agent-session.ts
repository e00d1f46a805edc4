import { join } from "node:path";
import type { AgentName } from "@manyhands/shared/config/agents";
import type { Config } from "@manyhands/shared/config/config";
import { AppError } from "@manyhands/shared/errors";
import { startServer } from "../supervisor/server-process.ts";
import { agentEntries } from "../supervisor/server-table.ts";
import type { AgentClient } from "../tasks/agent-client.ts";
import type { CliContext } from "./context.ts";

const readyTimeoutMs = 30_000;
const graceMs = 10_000;

/** An agent to talk to, perhaps one that was started for this. */
export interface AgentSession {
  readonly client: AgentClient;
  /** Stops the server when this session started it. */
  close(): Promise<void>;
}

/** The agent where the settings say it is, when a server answers there; otherwise one started for the duration on a free port. */
export async function openAgent(name: AgentName, config: Config, context: CliContext): Promise<AgentSession> {
  const { url } = config.agents[name];
  if (await isUp(url)) return { client: await context.connect(url, config.server.token), async close() {} };
  return startAgent(name, config, context);
}

/** A server of the agent started for the duration on a free port of loopback. */
async function startAgent(name: AgentName, config: Config, context: CliContext): Promise<AgentSession> {
  const entry = agentEntries(context.root).find((one) => one.name === name);
  if (entry === undefined)
    throw new AppError("not_found", `The agent ${name} is not in this checkout and none answers.`);
  const { PUBLIC_URL: _, ...env } = context.env;
  const server = startServer({
    name,
    entry: entry.entry,
    cwd: context.cwd,
    env: { ...env, PORT: "0", HOST: "127.0.0.1", MANYHANDS_HOME: config.home, MANYHANDS_CONFIG: config.file },
    logPath: join(config.home, "logs", `${name}.log`),
  });
  try {
    const url = await server.ready({ timeoutMs: readyTimeoutMs });
    return { client: await context.connect(url, config.server.token), close: () => server.stop(graceMs) };
  } catch (error) {
    await server.stop(0);
    throw error;
  }
}

/** Whether a server that can take work answers there. */
export async function isUp(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1500) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
