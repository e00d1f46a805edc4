import { expect, test } from "bun:test";
import { AgentCard } from "@a2a-js/sdk";
import { agentExtension } from "manyhands/internal/a2a/extensions";
import { callerNamed } from "manyhands/internal/core/caller";
import { cardOf } from "manyhands/internal/testing/a2a/card";
import type { KnownAgentState } from "../registry/known-agent.ts";
import type { Registry } from "../registry/registry.ts";
import { noting, restForTest } from "../testing/rest.ts";
import { agentRoutes } from "./agent-routes.ts";

const seen: KnownAgentState = {
  ...{ name: "maps", url: "http://maps.example", source: "registered", health: "down", breaker: "open" },
  ...{ reason: "It is away.", changes: [{ at: 1_000, what: ["version was 1, is 2"] }], checkedAt: 2_000 },
};

/** The routes over a registry that knows one agent, for a caller with every scope. */
function routes(state: KnownAgentState = seen) {
  const { asked, functions } = noting({ add: state, remove: undefined });
  const registry = { ...functions, list: () => [state] } as unknown as Registry;
  return { ...restForTest(agentRoutes(registry), callerNamed("local")), asked };
}

test("an agent is listed with what is known of it, its times as dates, and its card with what it says of itself", async () => {
  const listed = async (state?: KnownAgentState) =>
    ((await (await routes(state).ask("GET", "/agents")).json()) as { agents: object[] }).agents;
  expect(await listed()).toEqual([
    {
      ...{ name: "maps", url: "http://maps.example", source: "registered", health: "down", breaker: "open" },
      ...{ reason: "It is away.", checkedAt: "1970-01-01T00:00:02.000Z" },
      changes: [{ at: "1970-01-01T00:00:01.000Z", what: ["version was 1, is 2"] }],
    },
  ]);
  const plain = AgentCard.toJSON(cardOf("Maps", "http://maps.example")) as { capabilities?: object };
  const params = { model: { name: "m", provider: "p" }, sandbox: "bwrap" };
  const extensions = [
    { uri: "urn:other", params: { sandbox: "off" } },
    { uri: agentExtension, params },
  ];
  const card = AgentCard.fromJSON({ ...plain, capabilities: { ...plain.capabilities, extensions } });
  const [told] = await listed({ ...seen, card });
  expect(told).toMatchObject({ title: "Maps", card: { name: "Maps" }, ...params });
});

test("an agent is registered with its name and token, which is not shown, and removed by its name", async () => {
  const { ask, asked } = routes();
  const agent = { url: "http://maps.example", name: "maps", token: "t" };
  const added = await ask("POST", "/agents", { json: agent });
  expect([added.status, await added.text()]).toEqual([201, expect.not.stringContaining("token")]);
  expect((await ask("DELETE", "/agents/maps")).status).toBe(204);
  expect(asked).toEqual([
    ["add", agent],
    ["remove", "maps"],
  ]);
  for (const over of [
    { name: "Maps" },
    { name: "-maps" },
    { name: "a/b" },
    { name: "m".repeat(61) },
    { token: "" },
    { token: "t".repeat(4_001) },
    { url: `http://maps.example/${"x".repeat(2_000)}` },
    { url: "file:///x" },
    { x: 1 },
  ])
    expect([over, (await ask("POST", "/agents", { json: { ...agent, ...over } })).status]).toEqual([over, 400]);
  expect(asked).toHaveLength(2);
});
