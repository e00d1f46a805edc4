import type { FlowDefinition, FlowExample } from "manyhands/internal/core/flow";
import type { UserMessage } from "manyhands/internal/core/message";
import type { JsonSchema } from "manyhands/internal/core/model";
import type { FlowSettings } from "manyhands/internal/core/task";
import { admitToFlow } from "manyhands/internal/flow/flow-request";
import { kindsOf, type Runnable, type Runnables } from "manyhands/internal/runs/runnable";
import * as z from "zod";
import type { AgentState } from "../registry/known-agent.ts";
import type { Registry } from "../registry/registry.ts";
import { agentKind, agentOptions } from "./agent-flow.ts";
import { notSeen } from "./agents-of-registry.ts";

/** What this gateway can run: its flows, and every agent of the registry. */
export function runnablesOf(flows: readonly FlowDefinition[], registry: Pick<Registry, "list">): Runnables {
  const ofFlows = flows.map((flow) => ({
    runnable: flowRunnable(flow),
    example: needsAgents(flow) ? flow.example : {},
  }));
  const all = () => {
    const agents = registry.list();
    const names = agents.map(({ name }) => name);
    const asked = ofFlows.map(({ runnable, example }): Runnable => {
      const team = exampleTeam(example, names);
      return team === undefined ? runnable : { ...runnable, team };
    });
    return [...asked, ...agents.map(agentRunnable)];
  };
  return { all, ofKind: (kind) => all().find((one) => kindsOf(one).includes(kind)) };
}

/**
 * The agents of a flow's example that exist here, or all agents if none of them does.
 */
export function exampleTeam(
  { agents }: Pick<FlowExample, "agents">,
  there: readonly string[],
): readonly string[] | undefined {
  if (agents === undefined || there.length === 0) return undefined;
  const team = agents.filter((name) => there.includes(name));
  return team.length === 0 ? there : team;
}

/** Whether a flow requires named agents. */
function needsAgents({ check, options }: FlowDefinition): boolean {
  return check?.({ options: options.parse({}) }) !== undefined;
}

function flowRunnable(flow: FlowDefinition): Runnable {
  const { name, title, description, version, skills, options } = flow;
  return {
    type: "flow",
    name,
    kind: name,
    title,
    description,
    version,
    skills,
    options: z.toJSONSchema(options, { io: "input" }) as JsonSchema,
    admit: (message) => admitToFlow(flow, message),
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
    admit: admitToAgent,
  };
}

/** One for all agents: runnables of the same card are equal. */
function admitToAgent(message: UserMessage): FlowSettings {
  return admitToFlow({ options: agentOptions, textless: true }, message);
}
