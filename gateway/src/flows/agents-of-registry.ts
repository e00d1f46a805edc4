import type { AgentEntry, Agents } from "manyhands/internal/core/agent";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import type { KnownAgentState } from "../registry/known-agent.ts";
import type { Registry } from "../registry/registry.ts";

/**
 * The registry as flows see it: the agents that are up, and the flows themselves, which can be
 * asked like agents.
 */
export function agentsOfRegistry(registry: Registry, flows: Iterable<FlowDefinition>, url: string): Agents {
  const base = flowAddress(url);
  const entryOfFlow = ({ name, title, description, skills }: FlowDefinition): AgentEntry => ({
    name,
    title,
    description,
    skills,
    url: `${base}${name}`,
    kind: "flow",
  });
  return {
    async list() {
      // Right after the start no agent has been checked yet.
      if (registry.list().some(({ health }) => health === "unknown")) await registry.refresh();
      return [...registry.list().map(entryOf), ...Array.from(flows, entryOfFlow)];
    },
    async read(url, signal) {
      const { card } = await registry.connect({ name: url, url }, signal);
      return entryOf({ name: card.name, url, card });
    },
  };
}

/** The A2A address of this gateway's flows and agents, up to their names. */
export function flowAddress(url: string): string {
  return `${withoutLastSlashes(url)}/a2a/`;
}

/** The description of an agent whose card was never read. */
export const notSeen = "It could not be reached so far.";

type Seen = Pick<KnownAgentState, "name" | "url" | "card" | "reason"> & Partial<Pick<KnownAgentState, "health">>;

/**
 * An agent whose card was never read or is refused is listed too, with the reason: that may have
 * changed by the time it is asked.
 */
function entryOf({ name, url, card, health, reason = "" }: Seen): AgentEntry {
  if (health === "refused" || card === undefined) {
    const description = health === "refused" ? `It may not be used: ${reason}` : notSeen;
    return { name, title: name, description, skills: [], url, kind: "agent" };
  }
  const skills = card.skills.map(({ id, name, description, tags, examples }) => ({
    id,
    name,
    description,
    tags,
    examples,
  }));
  return { name, title: card.name, description: card.description, skills, url, kind: "agent" };
}
