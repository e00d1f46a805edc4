import type { AgentCard } from "@a2a-js/sdk";
import type { AgentEntry, Agents } from "@manyhands/flows/agents";
import type { FlowDefinition } from "@manyhands/flows/flow";
import type { Registry } from "../registry/registry.ts";

/** The registry as flows see it: the agents that are up, and the flows themselves, which can be asked like agents. */
export function agentsOfRegistry(registry: Registry, flows: readonly FlowDefinition[], publicUrl: string): Agents {
  const own = flows.map(
    ({ name, title, description, skills }): AgentEntry => ({
      name,
      title,
      description,
      skills,
      url: `${publicUrl.replace(/\/+$/, "")}/a2a/${name}`,
      kind: "flow",
    }),
  );
  return {
    async list() {
      // Right after the start nothing is known of the agents yet.
      if (registry.list().some(({ health }) => health === "unknown")) await registry.refresh();
      return [...registry.list().map(({ name, url, card }) => entryOf(name, url, card)), ...own];
    },
    async read(url, signal) {
      const { card } = await registry.visit(url, signal);
      return entryOf(card.name, url, card);
    },
  };
}

/** What is told of an agent whose card was never seen. */
export const notSeen = "It could not be reached so far.";

/** An agent whose card was never seen can be asked too: it may be there by then. */
function entryOf(name: string, url: string, card: AgentCard | undefined): AgentEntry {
  if (card === undefined) return { name, title: name, description: notSeen, skills: [], url, kind: "agent" };
  const skills = card.skills.map(({ id, name, description, tags, examples }) => ({
    id,
    name,
    description,
    tags,
    examples,
  }));
  return { name, title: card.name, description: card.description, skills, url, kind: "agent" };
}
