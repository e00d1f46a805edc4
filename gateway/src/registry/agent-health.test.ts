import { expect, test } from "bun:test";
import { agentMetrics, noAgentUp } from "./agent-health.ts";
import type { KnownAgentState } from "./known-agent.ts";

const agent = (
  name: string,
  health: KnownAgentState["health"],
  over: Partial<KnownAgentState> = {},
): KnownAgentState => ({
  ...{ name, url: "http://a.example", source: "configured", health, breaker: "closed", changes: [], ...over },
});
const agents = [
  agent("well", "up"),
  agent("tried", "up", { breaker: "trying" }),
  agent("held", "up", { breaker: "open" }),
  agent("away", "down", { reason: "It is away." }),
  agent("barred", "refused"),
  agent("new", "unknown"),
];

test("a metric says which agents answered last, and to which nothing is sent", () => {
  const named = agentMetrics({ list: () => agents }).map(({ name, samples }) => [
    name,
    samples.filter(({ value }) => value === 1).map(({ labels }) => labels?.name),
  ]);
  expect(named).toEqual([
    ["manyhands_agent_up", ["well", "tried", "held"]],
    ["manyhands_agent_breaker_open", ["held"]],
  ]);
});

test("as long as one agent is up nothing is wrong; with none up it is said of each why", () => {
  expect(noAgentUp({ list: () => agents })).toEqual([]);
  expect(noAgentUp({ list: () => agents.filter(({ health }) => health !== "up") })).toEqual([
    "away is down: It is away.",
    "barred is refused: no reason",
    "new has not been checked yet.",
  ]);
});
