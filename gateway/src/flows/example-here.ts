import type { FlowDefinition, FlowExample } from "manyhands/internal/core/flow";
import type { Json } from "manyhands/internal/core/json";

/** What the example of a flow is made from. */
type OfFlow = Pick<FlowDefinition, "example" | "options" | "check">;

/**
 * The example of a flow as it works with the agents that are here, or as it is where there are
 * none. Its team are those of its agents that are here, or else all; where its options name one
 * that is not, another takes its place.
 */
export function exampleHere(flow: OfFlow, there: readonly string[]): FlowExample {
  const { agents, options, ...task } = flow.example;
  if (there.length === 0) return flow.example;
  const made = { ...task, ...(options && { options: withAgents(options, there) as typeof options }) };
  if (agents === undefined) return made;
  const known = agents.filter((name) => there.includes(name));
  const team = known.length === 0 ? there : known;
  // A team too small for the flow works several times.
  const isEnough = isAccepted(flow, { ...made, agents: team });
  return { ...made, agents: isEnough ? team : agents.map((name) => standIn(name, there)) };
}

/** An address and `skill:` with words find their agent themselves. */
function standIn(name: string, there: readonly string[]): string {
  return there.includes(name) || name.includes(":") ? name : (there[0] ?? name);
}

function withAgents(value: Json | undefined, there: readonly string[]): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => withAgents(item, there) ?? null);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      key === "agent" && typeof field === "string" ? standIn(field, there) : withAgents(field, there),
    ]),
  );
}

/** A flow whose check throws says so to whoever starts it. */
function isAccepted({ check, options: schema }: OfFlow, { agents, options = {} }: FlowExample): boolean {
  try {
    return check?.({ agents, options: schema.parse(options) }) === undefined;
  } catch {
    return true;
  }
}
