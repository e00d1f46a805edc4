import type { FlowDefinition } from "@manyhands/flows/flow";
import { flowRequest } from "@manyhands/flows/flow-request";
import type { JsonSchema } from "@manyhands/shared/llm/model";
import * as z from "zod";
import type { AgentState } from "../registry/known-agent.ts";
import type { Registry } from "../registry/registry.ts";
import type { Runnable, Runnables } from "../runs/runnable.ts";
import { agentKind, agentOptions } from "./agent-flow.ts";

/** What this gateway can run: its flows, and every agent of the registry whose card is known. */
export function runnablesOf(flows: readonly FlowDefinition[], registry: Pick<Registry, "list">): Runnables {
  const ofFlows = flows.map(flowRunnable);
  const all = () => [...ofFlows, ...registry.list().flatMap(agentRunnable)];
  return { all, ofKind: (kind) => all().find((one) => one.kind === kind) };
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
    check: (message) => void flowRequest(flow, message),
  };
}

function agentRunnable({ name, card }: AgentState): Runnable[] {
  if (card === undefined) return [];
  const skills = card.skills.map(({ id, name, description, tags, examples }) => ({
    id,
    name,
    description,
    tags,
    examples,
  }));
  const kind = agentKind(name);
  const { description, version } = card;
  const check: Runnable["check"] = (message) => void flowRequest({ options: agentOptions }, message);
  return [{ type: "agent", name, kind, title: card.name, description, version, skills, check }];
}
