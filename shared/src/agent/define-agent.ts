import type { AgentDefinition, Limits, Skill } from "../core/agent.ts";
import { nameFault, refuseSpec, titleOf } from "../core/spec.ts";
import type { Tool } from "../core/tools/tool.ts";

/** Limits that let an ordinary task finish and stop a runaway one. */
const defaultLimits: Limits = {
  steps: 40,
  tokens: 2_000_000,
  usd: 5,
  wallMs: 60 * 60 * 1000,
  callsPerTurn: 16,
  parallelCalls: 4,
  resultCharacters: 12_000,
};

/**
 * The definition of an agent: its name, description, instructions and tools. The rest has good
 * defaults.
 */
export type AgentSpec<Listed> = Pick<AgentDefinition<Listed>, "name" | "description" | "instructions" | "tools"> &
  Partial<Omit<AgentDefinition<Listed>, "name" | "description" | "instructions" | "tools" | "limits">> & {
    readonly limits?: Partial<Limits>;
    /** Example tasks for its card, in its default skill. */
    readonly examples?: readonly string[];
  };

/**
 * Defines an agent, with defaults for what the spec leaves out. Frozen, since every task shares it.
 * Throws `config_invalid` with one sentence that says what is missing or wrong.
 */
export function defineAgent<Listed extends object = Tool>(spec: AgentSpec<Listed>): AgentDefinition<Listed> {
  const { examples, limits, ...given } = spec;
  const fault = faultIn(spec);
  if (fault !== undefined) refuseSpec(fault);
  const title = spec.title ?? titleOf(spec.name);
  const skill: Skill = {
    id: spec.name,
    name: title,
    description: spec.description,
    tags: [],
    examples: examples ?? [],
  };
  return Object.freeze({
    title,
    version: "0.1.0",
    toolChoice: "auto" as const,
    ...given,
    skills: spec.skills ?? [skill],
    limits: { ...defaultLimits, ...limits },
  });
}

/** What is wrong with the definition, for callers without a type checker. */
function faultIn({ name, description, instructions, tools }: AgentSpec<object>): string | undefined {
  const unnamed = nameFault("An agent", name);
  if (unnamed !== undefined) return unnamed;
  for (const [field, value] of Object.entries({ description, instructions }))
    if (typeof value !== "string") return `The agent ${name} needs a text as its ${field}.`;
  if (!Array.isArray(tools)) return `The agent ${name} needs a list of tools, which may be empty.`;
  const wrong = tools.findIndex((tool) => typeof tool !== "object" || tool === null);
  if (wrong !== -1)
    return `The agent ${name}: item ${wrong + 1} of its tools is not a tool. Call tool families, as in files().`;
  const names = tools.flatMap((tool) => ("name" in tool && typeof tool.name === "string" ? [tool.name] : []));
  const twice = names.find((one, at) => names.indexOf(one) !== at);
  return twice === undefined ? undefined : `The agent ${name} has two tools named ${twice}.`;
}
