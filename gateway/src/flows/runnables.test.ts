import { expect, test } from "bun:test";
import { flows } from "@manyhands/flows/flows";
import type { AgentState } from "../registry/known-agent.ts";
import { serveCard } from "../testing/card-server.ts";
import { runnablesOf } from "./runnables.ts";

const known = (name: string): AgentState => ({
  name,
  url: `http://${name}`,
  source: "configured",
  health: "unknown",
  breaker: "closed",
  changes: [],
});

test("a flow that needs agents gets those of its example that are present, or else all", () => {
  const teamOf = (...names: string[]) =>
    runnablesOf(flows, { list: () => names.map(known) })
      .all()
      .find(({ name }) => name === "sequential")?.team;
  expect(teamOf("manus", "browser", "data-analysis")).toEqual(["data-analysis", "manus"]);
  expect(teamOf("manus", "concierge")).toEqual(["manus"]);
  expect(teamOf("concierge", "butler")).toEqual(["concierge", "butler"]);
  expect(teamOf()).toBeUndefined();
});

test("the example of a flow names only agents that are here", () => {
  const exampleOf = (...names: string[]) =>
    runnablesOf(flows, { list: () => names.map(known) })
      .all()
      .find(({ name }) => name === "planning")?.example;
  expect(exampleOf("manus", "browser", "data-analysis")?.agents).toEqual(["data-analysis", "manus"]);
  expect(exampleOf("concierge")?.agents).toEqual(["concierge"]);
  expect(exampleOf()?.text).toContain("orders.csv");
});

test("an agent with an unchanged card stays the same runnable at every check, so that nothing is rebuilt", async () => {
  await using server = serveCard("Greeter");
  const seen: AgentState = {
    name: "greeter",
    url: server.url,
    source: "configured",
    health: "up",
    breaker: "closed",
    card: server.card,
    changes: [],
  };
  const looks = [seen, { ...seen, checkedAt: 1 }, { ...seen, card: { ...server.card, version: "1.0.1" } }];
  const [first, second, changed] = looks.map((state) => runnablesOf([], { list: () => [state] }).all());
  expect(Bun.deepEquals(first, second)).toBe(true);
  expect(Bun.deepEquals(first, changed)).toBe(false);
});
