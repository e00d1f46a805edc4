import { flows } from "@manyhands/flows/flows";
import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import { faceUrl } from "../server/a2a-face.ts";
import { publicUrlOf } from "../supervisor/server-table.ts";
import type { AgentSession } from "./agent-session.ts";
import type { CliContext } from "./context.ts";
import { openSystem } from "./system-session.ts";

/** A flow at the gateway, where one answers, otherwise in a system started for the duration. A name that is none is `invalid_input`. */
export async function openFlow(name: string, config: Config, context: CliContext): Promise<AgentSession> {
  return openAtGateway(flowNamed(name).name, config, context);
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

/** The flow of this name; `invalid_input` names those there are. */
export function flowNamed(name: string): FlowDefinition {
  const flow = flows.find((one) => one.name === name);
  if (flow !== undefined) return flow;
  const names = flows.map((one) => one.name).join(", ");
  throw new AppError("invalid_input", `There is no flow ${JSON.stringify(name)}. There are: ${names}.`);
}
