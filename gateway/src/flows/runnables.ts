import { AppError } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import type { UserMessage } from "manyhands/internal/core/message";
import type { JsonSchema } from "manyhands/internal/core/model";
import type { FlowSettings } from "manyhands/internal/core/runs/task";
import { admitToFlow } from "manyhands/internal/flow/flow-request";
import { kindsOf, type Runnable, type Runnables } from "manyhands/internal/runs/runnable";
import * as z from "zod";
import type { KnownAgentState } from "../registry/known-agent.ts";
import type { Registry } from "../registry/registry.ts";
import { agentKind, agentOptions } from "./agent-flow.ts";
import { notSeen } from "./agents-of-registry.ts";
import { exampleHere } from "./example-here.ts";

/** What this gateway can run: its flows as they are now, and every agent of the registry. */
export function runnablesOf(flows: Iterable<FlowDefinition>, registry: Pick<Registry, "list">): Runnables {
  const described = new WeakMap<FlowDefinition, FlowRunnable>();
  const ofFlow = (flow: FlowDefinition) => {
    const known = described.get(flow) ?? { runnable: flowRunnable(flow), needsTeam: needsAgents(flow) };
    described.set(flow, known);
    return known;
  };
  /** The flows as they were for the last caller: every request to one agent looks through all. */
  let last: { of: readonly unknown[]; asked: readonly Runnable[] } = { of: [], asked: [] };
  const all = () => {
    const agents = registry.list();
    const names = agents.map(({ name }) => name);
    const of = [...flows, ...names];
    if (of.length === last.of.length && of.every((one, at) => one === last.of[at]))
      return [...last.asked, ...agents.map(agentRunnable)];
    const asked = Array.from(flows, (flow): Runnable => {
      const { runnable, needsTeam } = ofFlow(flow);
      if (runnable.example === undefined) return runnable;
      const example = exampleHere(flow, names);
      const isTeam = needsTeam && names.length > 0 && example.agents !== undefined;
      return { ...runnable, example, ...(isTeam && { team: example.agents }) };
    });
    last = { of, asked };
    return [...asked, ...agents.map(agentRunnable)];
  };
  return { all, ofKind: (kind) => all().find((one) => kindsOf(one).includes(kind)) };
}

/**
 * Whether a flow requires named agents. One whose check throws says so to whoever asks it, and is
 * listed beside the others.
 */
function needsAgents({ check, options, settings = {} }: FlowDefinition): boolean {
  try {
    return check?.({ agents: settings.agents, options: options.parse(settings.options ?? {}) }) !== undefined;
  } catch {
    return false;
  }
}

type FlowRunnable = { readonly runnable: Runnable; readonly needsTeam: boolean };

function flowRunnable(flow: FlowDefinition): Runnable {
  const { name, title, description, version, skills, options, example, settings } = flow;
  return {
    type: "flow",
    name,
    kind: name,
    title,
    description,
    version,
    skills,
    options: z.toJSONSchema(options, { io: "input" }) as JsonSchema,
    // Its example is the task that its author has in mind, which nobody wrote down.
    ...(settings === undefined && { example }),
    admit: (message) => admitToFlow(flow, message),
  };
}

/** Described once for each card, so that whoever compares runnables has nothing to compare. */
const byCard = new WeakMap<object, Runnable>();

function agentRunnable(state: KnownAgentState): Runnable {
  const { name, source, card } = state;
  const known = card && byCard.get(card);
  if (known?.name === name && (known.ownKind !== undefined) === (source === "configured")) return known;
  const runnable = describedAgent(state);
  if (card !== undefined) byCard.set(card, runnable);
  return runnable;
}

function describedAgent({ name, source, card }: KnownAgentState): Runnable {
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
  const settings = admitToFlow({ options: agentOptions, textless: true }, message);
  // Among the agents of its run is only itself, so that any other would be said not to exist.
  if (settings.agents !== undefined)
    throw new AppError("invalid_input", "agents: only a flow takes them; this is one agent.");
  return settings;
}
