import { join } from "node:path";
import { agentPorts } from "manyhands/internal/config/agents";
import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { registryFile } from "../registry/registry-file.ts";
import { urlOf } from "../supervisor/server-table.ts";
import { type AgentSession, isOwnAgent, openAgent } from "./agent-session.ts";
import type { CliContext } from "./context.ts";
import { openAtGateway, openFlow } from "./flow-session.ts";
import { isUp } from "./is-up.ts";

/** Whom a command talks with: a flow, or an agent. */
export type Partner = {
  readonly agent?: string | undefined;
  readonly flow?: string | undefined;
  /** The agent is talked to by way of the gateway, also where it could be talked to itself: that is where the run is. */
  readonly byGateway?: boolean;
};

/**
 * Opens a flow, an agent of this system, or one that was registered, which is talked to by way of the gateway. Rejects with `invalid_input` for a name
 * that is none of them.
 */
export async function openSession({ agent = "manus", flow, byGateway }: Partner, config: Config, context: CliContext) {
  if (flow !== undefined) return openFlow(flow, config, context);
  if (isOwnAgent(agent)) return byGateway ? openAtGateway(agent, config, context) : openAgent(agent, config, context);
  return openRegistered(agent, config, context);
}

async function openRegistered(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  const registered = (await registryFile(join(config.home, "agents.json")).read()).map((one) => one.name);
  const gatewayUp = await isUp(urlOf({ name: "gateway" }, config));
  const unknown = () => {
    const known = [...Object.keys(agentPorts), ...registered].join(", ");
    const how = "bun manyhands agents add URL registers another.";
    return new AppError("invalid_input", `There is no agent ${JSON.stringify(name)}. There are: ${known}; ${how}`);
  };
  if (!registered.includes(name) && !gatewayUp) throw unknown();
  try {
    return await openAtGateway(name, config, context);
  } catch (error) {
    throw error instanceof AppError && error.code === "not_found" ? unknown() : error;
  }
}
