import type { Registry } from "./registry.ts";

/**
 * Why a gateway has no agent to send work to: what the last check of each said. Nothing while one
 * of them is up, or when it knows none, as its flows may need none.
 */
export function noAgentUp(registry: Pick<Registry, "list">): string[] {
  const agents = registry.list();
  if (agents.some(({ health }) => health === "up")) return [];
  return agents.map(({ name, health, reason }) =>
    health === "unknown" ? `${name} has not been checked yet.` : `${name} is ${health}: ${reason ?? "no reason"}`,
  );
}
