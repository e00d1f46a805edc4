import { authorizedFetch } from "manyhands/internal/a2a/client/credentials";
import { ownCredentials } from "manyhands/internal/config/agents/credentials";
import type { Config } from "manyhands/internal/config/config";
import { firstAgent } from "manyhands/internal/config/named-agent";
import { AppError } from "manyhands/internal/core/errors";
import { ownCommand } from "manyhands/internal/core/release";
import { flowNamed, loadFlows } from "../flows/load-flows.ts";
import { registeredAgents } from "../registry/registered-agents.ts";
import { adapterUrl } from "../server/adapter-url.ts";
import { publicUrlOf, urlOf } from "../supervisor/server-table.ts";
import { fetchServer } from "../tasks/fetch-server.ts";
import { type AgentSession, isOwnAgent, openAgent } from "./agent-session.ts";
import type { CliContext } from "./context.ts";
import { isUsable } from "./is-up.ts";
import { openSystem } from "./system-session.ts";

const lookMs = 5_000;

/** The flow or agent a command talks to. */
export type Partner = {
  readonly agent?: string | undefined;
  readonly flow?: string | undefined;
  /**
   * The agent is reached through the gateway even if it could be reached directly, because the run
   * is the gateway's.
   */
  readonly byGateway?: boolean;
};

/**
 * Opens a flow, an agent of this system, or a registered agent, which is reached through the
 * gateway. Rejects with `invalid_input` for an unknown name.
 */
export async function openSession({ flow, byGateway, ...partner }: Partner, config: Config, context: CliContext) {
  if (flow !== undefined) return openFlow(flow, config, context);
  const agent = partner.agent ?? firstAgent(config);
  if (isOwnAgent(agent, config))
    return byGateway ? openAtGateway(agent, config, context, [agent]) : openAgent(agent, config, context);
  return openRegistered(agent, config, context);
}

async function openRegistered(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  const registered = (await registeredAgents(config)).map((one) => one.name);
  if (!registered.includes(name) && !(await isKnownAt(urlOf({ name: "gateway" }, config), name, config))) {
    const known = [...Object.keys(config.agents), ...registered].join(", ");
    const how = `${ownCommand} agents add URL registers another.`;
    throw new AppError("invalid_input", `There is no agent ${JSON.stringify(name)}. There are: ${known}; ${how}`);
  }
  return openAtGateway(name, config, context, []);
}

/**
 * Whether the running gateway has an agent of this name, which its files may not say yet.
 */
async function isKnownAt(gateway: string, name: string, config: Config): Promise<boolean> {
  if (!(await isUsable("gateway", config))) return false;
  const signal = AbortSignal.timeout(lookMs);
  const card = `${adapterUrl(gateway, encodeURIComponent(name))}/.well-known/agent-card.json`;
  const response = await fetchServer(card, { signal }, authorizedFetch(fetch, ownCredentials(config.server), gateway));
  await response.body?.cancel();
  return response.status !== 404;
}

/**
 * A flow at the running gateway, or in a system started for this session with the agents that the
 * flow uses: all when none are named. Rejects with `invalid_input` for an unknown flow.
 */
export async function openFlow(
  name: string,
  config: Config,
  context: CliContext,
  agents: readonly string[] = Object.keys(config.agents),
): Promise<AgentSession> {
  return openAtGateway(flowNamed(await loadFlows(config), name).name, config, context, agents);
}

/**
 * A flow or an agent at the running gateway, or in a system started for this session.
 */
async function openAtGateway(
  name: string,
  config: Config,
  context: CliContext,
  needed: readonly string[],
): Promise<AgentSession> {
  const session = await openSystem(config, context, needed);
  try {
    const outside = publicUrlOf({ name: "gateway" }, session.config);
    const own = ownCredentials(config.server);
    const client = await context.connect(adapterUrl(session.url, name), own, adapterUrl(outside, name));
    return { client, passing: session.passing, close: () => session.close() };
  } catch (error) {
    await session.close();
    throw error;
  }
}
