import type { AgentCard } from "@a2a-js/sdk";

/**
 * The changes in a newer card of the same agent that matter to callers, one sentence each.
 */
export function cardChanges(before: AgentCard, after: AgentCard): string[] {
  const changes: string[] = [];
  const changed = (what: string, from: string, to: string) => {
    if (from !== to) changes.push(`${what} was ${quoted(from)}, is ${quoted(to)}`);
  };
  changed("name", before.name, after.name);
  changed("version", before.version, after.version);
  changed("description", before.description, after.description);
  changed("interfaces", interfacesOf(before), interfacesOf(after));
  const earlier = new Map(before.skills.map((skill) => [skill.id, skill]));
  for (const skill of after.skills) {
    const old = earlier.get(skill.id);
    earlier.delete(skill.id);
    if (old === undefined) changes.push(`skill ${quoted(skill.id)} is new`);
    else if (!Bun.deepEquals(old, skill)) changes.push(`skill ${quoted(skill.id)} has a new description`);
  }
  for (const id of earlier.keys()) changes.push(`skill ${quoted(id)} is gone`);
  return changes;
}

function interfacesOf({ supportedInterfaces }: AgentCard): string {
  return supportedInterfaces
    .map(({ url, protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion} ${url}`)
    .join(", ");
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
