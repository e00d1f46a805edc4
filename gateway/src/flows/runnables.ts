import type { FlowDefinition } from "manyhands/internal/core/flow";
import type { UserMessage } from "manyhands/internal/core/message";
import type { JsonSchema } from "manyhands/internal/core/model";
import { flowRequest } from "manyhands/internal/flow/flow-request";
import { kindsOf, type Runnable, type Runnables } from "manyhands/internal/runs/runnable";
import * as z from "zod";
import type { AgentState } from "../registry/known-agent.ts";
import type { Registry } from "../registry/registry.ts";
import { agentKind, agentOptions } from "./agent-flow.ts";
import { notSeen } from "./agents-of-registry.ts";

/** What this gateway can run: its flows, and every agent of the registry. */
export function runnablesOf(flows: readonly FlowDefinition[], registry: Pick<Registry, "list">): Runnables {
  const ofFlows = flows.map(flowRunnable);
  const all = () => [...ofFlows, ...registry.list().map(agentRunnable)];
  return { all, ofKind: (kind) => all().find((one) => kindsOf(one).includes(kind)) };
}

function flowRunnable(flow: FlowDefinition): Runnable {
  const { name, title, description, version, skills, options, example } = flow;
  const needsAgents = flow.check?.({ options: options.parse({}) }) !== undefined;
  return {
    type: "flow",
    name,
    kind: name,
    title,
    description,
    version,
    skills,
    options: z.toJSONSchema(options, { io: "input" }) as JsonSchema,
    ...(needsAgents && example.agents && { team: example.agents }),
    check: (message) => void flowRequest(flow, message),
  };
}

function agentRunnable({ name, source, card }: AgentState): Runnable {
  return {
    type: "agent",
    name,
    kind: agentKind(name),
    // An agent of this system names its runs after itself, wherever they were started.
    ...(source === "configured" && { ownKind: name }),
    title: card?.name ?? name,
    description: card?.description ?? notSeen,
    version: card?.version ?? "",
    skills: card?.skills ?? [],
    check: checkForAgent,
  };
}

/** One for all agents: runnables of the same card are equal. */
function checkForAgent(message: UserMessage): void {
  flowRequest({ options: agentOptions }, message);
}
