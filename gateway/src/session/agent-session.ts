import { join } from "node:path";
import { agentNamed, type Config } from "manyhands/internal/config/config";
import { AppError, publicError } from "manyhands/internal/core/errors";
import { type ServerProcess, startServer } from "../supervisor/server-process.ts";
import { agentEntry, agentUrls, argsOf, onFreePorts, portOf } from "../supervisor/server-table.ts";
import type { AgentClient } from "../tasks/agent-client.ts";
import type { CliContext } from "./context.ts";
import { isNowhere, isUp } from "./is-up.ts";

const readyTimeoutMs = 30_000;
const graceMs = 10_000;

/** An agent or a flow to talk to, perhaps one that was started for this. */
export interface AgentSession {
  readonly client: AgentClient;
  /** Whether its servers were started for it and end with it, and with them what they hold open. */
  readonly passing: boolean;
  /** Stops the servers that this session started. */
  close(): Promise<void>;
}

/** Whether an agent of this system has this name. */
export function isOwnAgent(name: string, { agents }: Pick<Config, "agents">): boolean {
  return Object.hasOwn(agents, name);
}

/**
 * An agent of this system where the settings say it is, when a server answers there; otherwise one
 * started for the duration on a free port.
 */
export async function openAgent(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  const { entry, url, token, publicUrl } = agentNamed(config, name);
  // One that nothing here can start is asked where it is, and says itself what is wrong.
  if (entry === undefined || (await isUp(url)))
    return { client: await context.connect(url, token, publicUrl), passing: false, async close() {} };
  return startAgent(name, config, context);
}

/**
 * Servers of the agent and of those it may give parts of its task to, started for the duration on
 * free ports of loopback. Only the first is waited for; the others come up while it works, and one
 * that is up already stays the one that is asked. That one of them ends is told at once.
 */
async function startAgent(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  const missing = [name];
  for (const delegate of askable(name, config)) if (await isNowhere(delegate, config)) missing.push(delegate);
  const placed = onFreePorts(config, missing);
  const servers: ServerProcess[] = [];
  const closing = new AbortController();
  const close = async () => {
    closing.abort();
    await Promise.all(servers.map((server) => server.stop(graceMs)));
  };
  const watch = async (server: ServerProcess) => {
    try {
      await server.ready({ timeoutMs: readyTimeoutMs, signal: closing.signal });
      const exitCode = await server.exited;
      throw new AppError("unavailable", `${server.name} ended with exit code ${exitCode}:\n${await server.logTail()}`);
    } catch (error) {
      if (!closing.signal.aborted) context.terminal.say(publicError(error).message);
    }
  };
  try {
    const first = serverOf(name, placed, context);
    servers.push(first);
    const url = await first.ready({ timeoutMs: readyTimeoutMs });
    void watch(first);
    for (const delegate of missing.slice(1)) {
      const server = serverOf(delegate, placed, context);
      servers.push(server);
      void watch(server);
    }
    return { client: await context.connect(url, agentNamed(config, name).token), passing: true, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The agents of this system that a task of an agent can come to. */
function askable(name: string, config: Config): readonly string[] {
  const found = [name];
  for (const one of found)
    for (const delegate of agentNamed(config, one).delegates)
      if (isOwnAgent(delegate, config) && !found.includes(delegate)) found.push(delegate);
  return found.slice(1);
}

function serverOf(name: string, config: Config, { cwd, env }: CliContext): ServerProcess {
  const entry = agentEntry(name, config);
  const { PUBLIC_URL: _, ...rest } = env;
  return startServer({
    name,
    entry: entry.entry,
    args: argsOf(entry),
    cwd,
    env: {
      ...rest,
      ...agentUrls(config),
      PORT: String(portOf(entry, config)),
      HOST: "127.0.0.1",
      MANYHANDS_HOME: config.home,
      MANYHANDS_CONFIG: config.file,
    },
    logPath: join(config.home, "logs", `${name}.log`),
  });
}
