import { join } from "node:path";
import type { Config } from "manyhands/internal/config/config";
import { agentNamed } from "manyhands/internal/config/named-agent";
import { AppError } from "manyhands/internal/core/errors";
import type { ServerSpec } from "../supervisor/server-process.ts";
import { agentEntry, agentUrls, argsOf, onFreePorts, portOf } from "../supervisor/server-table.ts";
import { defaultPolicy, type SupervisorEvent, supervise } from "../supervisor/supervise.ts";
import type { AgentClient } from "../tasks/agent-client.ts";
import type { CliContext } from "./context.ts";
import { isNowhere, isUsable } from "./is-up.ts";
import { troubleTeller } from "./trouble-teller.ts";

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
 * An agent of this system: at its configured address if a server of this home answers there,
 * otherwise started for this session on a free port.
 */
export async function openAgent(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  const { entry, url, credentials, publicUrl } = agentNamed(config, name);
  // An agent without an entry point cannot be started here; connecting to it reports what is wrong.
  if (entry === undefined || (await isUsable(name, config, context.terminal)))
    return { client: await context.connect(url, credentials, publicUrl), passing: false, async close() {} };
  return startAgent(name, config, context);
}

/**
 * Starts servers of the agent and of the agents it may delegate to, for this session, on free
 * loopback ports, and keeps them up as `start` does. Only the first is waited for; the others start
 * while it works. An agent that is already up is used as it is. What goes wrong is told at once.
 */
async function startAgent(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  const missing = [name];
  for (const delegate of askable(name, config)) if (await isNowhere(delegate, config)) missing.push(delegate);
  const placed = onFreePorts(config, missing);
  const stop = new AbortController();
  const { promise: up, resolve, reject } = Promise.withResolvers<string>();
  const tell = troubleTeller(context.terminal);
  let wasUp = false;
  const report = (event: SupervisorEvent) => {
    const isFirst = event.name === name;
    if (event.type === "server-up") {
      wasUp ||= isFirst;
      return isFirst ? resolve(event.url) : undefined;
    }
    // A first start that fails is no crash: starting it again would change nothing.
    if (!isFirst || wasUp) return tell(event);
    return reject(new AppError(event.type === "server-given-up" ? event.code : "unavailable", event.reason));
  };
  const keep = (one: string) =>
    supervise(specOf(one, placed, context), { signal: stop.signal, graceMs, policy: defaultPolicy, report }).catch(
      (error) => {
        if (one === name) reject(error);
        else tell({ type: "server-given-up", name: one, code: "unavailable", reason: String(error) });
      },
    );
  const kept = [keep(name)];
  const close = async () => {
    stop.abort();
    await Promise.all(kept);
  };
  try {
    const url = await up;
    kept.push(...missing.slice(1).map(keep));
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

function specOf(name: string, config: Config, { cwd, env }: CliContext): ServerSpec {
  const entry = agentEntry(name, config);
  const { PUBLIC_URL: _, ...rest } = env;
  return {
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
  };
}
