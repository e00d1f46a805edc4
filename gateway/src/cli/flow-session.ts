import type { Config } from "manyhands/internal/config/config";
import { flowNamed, loadFlows } from "../flows/load-flows.ts";
import { faceUrl } from "../server/a2a-face.ts";
import { publicUrlOf } from "../supervisor/server-table.ts";
import type { AgentSession } from "./agent-session.ts";
import type { CliContext } from "./context.ts";
import { openSystem } from "./system-session.ts";

/** A flow at the gateway, where one answers, otherwise in a system started for the duration. A name that is none is `invalid_input`. */
export async function openFlow(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  return openAtGateway(flowNamed(await loadFlows(config), name).name, config, context);
}

/** A flow or an agent as the gateway offers it, at the one that answers or in a system started for the duration. */
export async function openAtGateway(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  const session = await openSystem(config, context);
  try {
    const outside = publicUrlOf({ name: "gateway" }, session.config);
    const client = await context.connect(faceUrl(session.url, name), config.server.token, faceUrl(outside, name));
    return { client, passing: session.passing, close: () => session.close() };
  } catch (error) {
    await session.close();
    throw error;
  }
}
