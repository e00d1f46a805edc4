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

/** A connection to an agent or a flow, possibly one started for this command. */
export interface AgentSession {
  readonly client: AgentClient;
  /** Whether its servers were started for it and end with it, closing pages and shells. */
  readonly passing: boolean;
  /** Stops the servers that this session started. */
  close(): Promise<void>;
}

/** Whether an agent of this system has this name. */
export function isOwnAgent(name: string, { agents }: Pick<Config, "agents">): boolean {
  return Object.hasOwn(agents, name);
}

/**
 * An agent of this system: at its configured address if a server answers there, otherwise started
 * for this session on a free port.
 */
export async function openAgent(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  const { entry, url, credentials, publicUrl } = agentNamed(config, name);
  // An agent without an entry point cannot be started here; connecting to it reports what is wrong.
  if (entry === undefined || (await isUp(url, config)))
    return { client: await context.connect(url, credentials, publicUrl), passing: false, async close() {} };
  return startAgent(name, config, context);
}

/**
 * Starts servers of the agent and of the agents it may delegate to, for this session, on free
 * loopback ports. Only the first is waited for; the others start while it works. An agent that is
 * already up is used as it is. When a server ends, the user is told at once.
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
    return { client: await context.connect(url, agentNamed(config, name).credentials), passing: true, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The agents of this system that a task of this agent can reach by delegation. */
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
    tls: config.server.tls?.client,
  });
}
