import { expect, test } from "bun:test";
import { flows } from "@manyhands/flows/flows";
import { defineFlow } from "manyhands/internal/core/flow";
import type { KnownAgentState } from "../registry/known-agent.ts";
import { serveCard } from "../testing/card-server.ts";
import { runnablesOf } from "./runnables.ts";

const known = (name: string): KnownAgentState => ({
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

test("a flow whose check throws is listed, and the others beside it", () => {
  const broken = defineFlow({
    ...{ name: "broken", description: "Breaks.", example: { text: "Go." }, perform: async () => ({ answer: "" }) },
    check: () => {
      throw new TypeError("x is undefined");
    },
  });
  const names = runnablesOf([broken, ...flows], { list: () => [] })
    .all()
    .map(({ name }) => name);
  expect(names).toEqual(["broken", ...flows.map(({ name }) => name)]);
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

test.each(flows.map((flow) => [flow.name, flow] as const))(
  "the example of %s is accepted and asks agents that are here, whichever those are",
  (_, flow) => {
    for (const names of [["concierge"], ["manus", "swe"], ["manus", "browser", "swe", "data-analysis"]]) {
      const [runnable] = runnablesOf([flow], { list: () => names.map(known) }).all();
      const { text, files: _, ...settings } = runnable?.example ?? { text: "" };
      const parts = [{ type: "text", text }];
      runnable?.admit({ messageId: "m", parts, metadata: { "manyhands/flow": settings } } as never);
      const asked = [...JSON.stringify(settings.options ?? {}).matchAll(/"agent":"([^"]+)"/g)].map(([, name]) => name);
      for (const name of [...asked, ...(settings.agents ?? [])]) expect(names).toContain(name ?? "");
    }
  },
);

test("an agent with an unchanged card stays the same runnable at every check, so that nothing is rebuilt", async () => {
  await using server = serveCard("Greeter");
  const seen: KnownAgentState = {
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
  // Registered by somebody now, it may name its runs as it likes.
  const foreign = runnablesOf([], { list: () => [{ ...seen, source: "registered" }] });
  expect([first?.[0]?.ownKind, foreign.all()[0]?.ownKind]).toEqual(["greeter", undefined]);
});

test("an agent is found by the kind of its runs; one of this system by that of its own runs too", () => {
  const registered = { ...known("guest"), source: "registered" as const };
  const { all, ofKind } = runnablesOf(flows, { list: () => [known("manus"), registered] });
  const kinds = ["agent:manus", "manus", "agent:guest", "guest", "planning", "agent:nobody"];
  expect(kinds.map((kind) => ofKind(kind)?.name)).toEqual([
    "manus",
    "manus",
    "guest",
    undefined,
    "planning",
    undefined,
  ]);
  const manus = all().find(({ name }) => name === "manus");
  expect(manus).toMatchObject({ title: "manus", description: "It could not be reached so far.", version: "" });
});

test("a composed flow has no example but its agents, and needs none; a flow that is put later is there", () => {
  const [planning] = flows.filter(({ name }) => name === "planning");
  const sequential = flows.find(({ name }) => name === "sequential");
  if (planning === undefined || sequential === undefined) throw new Error("A flow is missing.");
  const list = [{ ...planning, name: "mine", settings: { agents: ["manus"] } }];
  const { all } = runnablesOf(list, { list: () => [known("manus")] });
  expect(all()[0]).not.toHaveProperty("example");
  list.push({ ...sequential, name: "set", settings: { agents: ["manus"] } });
  expect(all().map(({ name, team }) => [name, team])).toEqual([
    ["mine", undefined],
    ["set", undefined],
    ["manus", undefined],
  ]);
});

test("the options of a flow are told as a caller may give them, and a wrong one is refused at once", () => {
  const { all } = runnablesOf(flows, { list: () => [] });
  for (const { options } of all()) expect(options).toMatchObject({ type: "object", additionalProperties: false });
  const sequential = all().find(({ name }) => name === "sequential");
  expect(sequential?.options).not.toHaveProperty("required");
  const admit = (flow: object) => () =>
    sequential?.admit({
      messageId: "m",
      parts: [{ type: "text", text: "x" }],
      metadata: { "manyhands/flow": flow },
    } as never);
  expect(admit({ nonsense: 1 })).toThrow("nonsense: is not known; there are agents, options.");
  expect(admit({ agents: ["manus"], options: { nonsense: 1 } })).toThrow("nonsense");
  expect(admit({ agents: ["manus"] })()).toEqual({ agents: ["manus"] });
});

test("agents named for one agent, which works alone, are refused at once, not told to be missing", () => {
  const [manus] = runnablesOf([], { list: () => [known("manus")] }).all();
  const parts = [{ type: "text", text: "x" }] as const;
  const admit = (flow: object) => () =>
    manus?.admit({ messageId: "m", parts, metadata: { "manyhands/flow": flow } } as never);
  expect(admit({ agents: ["swe"] })).toThrow("agents: only a flow takes them; this is one agent.");
  expect(admit({})()).toEqual({});
});

test("agents that share a card keep their names, and one that takes another's place is described anew", async () => {
  await using server = serveCard("Greeter");
  const seen = (name: string): KnownAgentState => ({ ...known(name), health: "up", card: server.card });
  const states = [seen("one"), seen("two")];
  const planning = flows.filter(({ name }) => name === "planning");
  const { all } = runnablesOf(planning, { list: () => states });
  const names = () => all().map(({ name, kind }) => `${name} ${kind}`);
  expect(names().slice(1)).toEqual(["one agent:one", "two agent:two"]);
  const [before] = all();
  states.splice(0, 2, known("manus"), known("swe"));
  const [after] = all();
  expect(names().slice(1)).toEqual(["manus agent:manus", "swe agent:swe"]);
  expect([before?.example?.agents, after?.example?.agents]).toEqual([["one", "two"], ["manus"]]);
  // A flow is described once, so that whoever compares runnables has nothing to compare.
  expect(after?.options === before?.options).toBe(true);
});
