import type { MetricFamily } from "manyhands/internal/core/metric";
import type { Registry } from "./registry.ts";

/** What the gateway last saw of its agents, as metrics; each is told by its name. */
export function agentMetrics(registry: Pick<Registry, "list">): readonly MetricFamily[] {
  const agents = registry.list();
  const samples = (isSo: (agent: (typeof agents)[number]) => boolean) =>
    agents.map((agent) => ({ labels: { name: agent.name }, value: isSo(agent) ? 1 : 0 }));
  return [
    {
      ...{ name: "manyhands_agent_up", type: "gauge", help: "1 if the agent answered the last check, else 0." },
      samples: samples(({ health }) => health === "up"),
    },
    {
      ...{ name: "manyhands_agent_breaker_open", type: "gauge", help: "1 while calls to the agent are held back." },
      samples: samples(({ breaker }) => breaker === "open"),
    },
  ];
}

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
