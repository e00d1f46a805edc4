import type { Skill } from "./agent.ts";

/** An agent a flow can ask, as its registry knows it. */
export type AgentEntry = {
  /** What the registry calls it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly skills: readonly Skill[];
  /** Where its card is. */
  readonly url: string;
  /** A flow is asked like an agent, but only where the caller names it. */
  readonly kind: "agent" | "flow";
};

/** The agents a flow can ask. The gateway's registry is one. */
export interface Agents {
  /** Those that can be asked now. */
  list(signal: AbortSignal): Promise<readonly AgentEntry[]>;
  /** The agent whose card is at this address. Rejects with an AppError when it has none or may not be asked. */
  read(url: string, signal: AbortSignal): Promise<AgentEntry>;
}

/** An agent as a model reads of it: its name, what it is for, its skills. */
export function agentText({ name, description, skills }: AgentEntry): string {
  const able = skills.map((skill) => skill.name).join(", ");
  return `- ${name}: ${description}${able === "" ? "" : ` Skills: ${able}.`}`;
}
