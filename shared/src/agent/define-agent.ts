import type { AgentDefinition, Limits } from "../core/agent.ts";

/** Bounds that let an ordinary task finish and stop a runaway one. */
const defaultLimits: Limits = {
  steps: 40,
  tokens: 2_000_000,
  usd: 5,
  wallMs: 60 * 60 * 1000,
  callsPerTurn: 16,
  parallelCalls: 4,
  resultCharacters: 12_000,
};

/** An agent with the default bounds where it names none. Frozen: every task shares it. */
export function defineAgent(
  agent: Omit<AgentDefinition, "limits" | "toolChoice"> & {
    readonly limits?: Partial<Limits>;
    readonly toolChoice?: AgentDefinition["toolChoice"];
  },
): AgentDefinition {
  return Object.freeze({ toolChoice: "auto", ...agent, limits: { ...defaultLimits, ...agent.limits } });
}
