import { expect, test } from "bun:test";
import { flows } from "@manyhands/flows/flows";
import { cardOf } from "manyhands/internal/testing/a2a/card";
import type { KnownAgentState } from "../registry/known-agent.ts";
import type { Registry } from "../registry/registry.ts";
import { agentsOfRegistry } from "./agents-of-registry.ts";

const { signal } = new AbortController();
const planning = flows.filter(({ name }) => name === "planning");
const known = (name: string, more: Partial<KnownAgentState> = {}): KnownAgentState => ({
  name,
  url: `http://${name}`,
  source: "configured",
  health: "up",
  breaker: "closed",
  changes: [],
  ...more,
});

/** The agents over a registry that knows these, and how often it has looked at them. */
function agentsWith(states: readonly KnownAgentState[], url = "http://gateway/") {
  let refreshed = 0;
  const registry = {
    list: () => (refreshed > 0 ? states.map((state) => ({ ...state, health: "up" })) : states),
    refresh: async () => void refreshed++,
    connect: async ({ url }: { url: string }, waiting: AbortSignal) => {
      waiting.throwIfAborted();
      return { card: cardOf("Stranger", url) };
    },
  } as unknown as Registry;
  return { agents: agentsOfRegistry(registry, planning, url), refreshed: () => refreshed };
}

test("an agent is described by its card; one without a card, or refused, is listed with the reason", async () => {
  const card = cardOf("Greeter", "http://greeter");
  const { agents, refreshed } = agentsWith([
    known("greeter", { card }),
    known("away", { health: "down", reason: "no answer" }),
    known("barred", { card, health: "refused", reason: "not signed" }),
    known("unsaid", { health: "refused" }),
  ]);
  const entries = await agents.list(signal);
  expect(
    entries.slice(0, -1).map(({ name, title, description, url, kind }) => [name, title, description, url, kind]),
  ).toEqual([
    ["greeter", "Greeter", card.description, "http://greeter", "agent"],
    ["away", "away", "It could not be reached so far.", "http://away", "agent"],
    ["barred", "barred", "It may not be used: not signed", "http://barred", "agent"],
    ["unsaid", "unsaid", "It may not be used: ", "http://unsaid", "agent"],
  ]);
  const [skill] = card.skills;
  expect(entries.map(({ skills }) => skills.length > 0)).toEqual([skill !== undefined, false, false, false, true]);
  expect(refreshed()).toBe(0);
});

test("a flow can be asked like an agent, at the gateway's address", async () => {
  for (const url of ["http://gateway", "http://gateway/", "http://gateway//"]) {
    const [flow] = (await agentsWith([], url).agents.list(signal)).slice(-1);
    expect(flow).toMatchObject({ name: "planning", url: "http://gateway/a2a/planning", kind: "flow" });
    expect(flow?.skills.length).toBeGreaterThan(0);
  }
});

test("agents are looked at first when one of them was not looked at yet", async () => {
  const { agents, refreshed } = agentsWith([known("a"), known("b", { health: "unknown" })]);
  expect((await agents.list(signal)).length).toBe(3);
  expect(refreshed()).toBe(1);
});

test("an address is described by the card that is read there, under the card's name", async () => {
  const { agents } = agentsWith([]);
  const stranger = await agents.read("http://elsewhere", signal);
  expect(stranger).toMatchObject({ name: "Stranger", title: "Stranger", url: "http://elsewhere", kind: "agent" });
  const given = agents.read("http://elsewhere", AbortSignal.abort(new Error("left")));
  await expect(given).rejects.toThrow("left");
});
