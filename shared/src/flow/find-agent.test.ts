import { expect, test } from "bun:test";
import type { AgentEntry } from "../core/agent.ts";
import { findAgent, isAddress, namedAgent } from "./find-agent.ts";

const agent = (name: string, about: Partial<AgentEntry> = {}): AgentEntry => ({
  name,
  title: `The ${name}`,
  description: "",
  skills: [],
  url: `http://127.0.0.1/${name}`,
  kind: "agent",
  ...about,
});
const skill = (id: string, name: string, tags: string[] = [], description = "") => ({
  id,
  name,
  tags,
  description,
  examples: [],
});
const agents = [
  agent("manus", { skills: [skill("general", "General tasks", [], "Searches the web and writes reports")] }),
  agent("data-analysis", { title: "Data analysis", skills: [skill("analyse", "Analyse tables", ["csv", "charts"])] }),
  agent("swe", { skills: [skill("fix-bugs", "Fix bugs", ["code"])] }),
];

test("a name, title or address in any spelling means its agent", () => {
  for (const reference of ["data-analysis", "DATA_ANALYSIS", " Data Analysis ", "http://127.0.0.1/data-analysis/"])
    expect(findAgent(reference, agents)).toEqual({ agent: agents[1] as AgentEntry });
});

test("a skill means the agent whose card fits best, with the reason", () => {
  const by = (words: string) => {
    const { agent: found, reason } = findAgent(`skill:${words}`, agents);
    return [found.name, reason];
  };
  expect(by("fix_bugs")).toEqual(["swe", "swe has the skill fix_bugs."]);
  expect(by("make charts of the web data")).toEqual([
    "data-analysis",
    `data-analysis's skill "Analyse tables" fits best: charts.`,
  ]);
  expect(by("searches the web")).toEqual(["manus", `manus's skill "General tasks" fits best: searches, web.`]);
});

test("a name counts before a title, a title before an address, and of equals the first", () => {
  const there = [
    agent("one", { title: "two", url: "http://one" }),
    agent("two", { title: "three", url: "http://one" }),
    agent("three", { title: "two", url: "http://three" }),
    agent("TWO", { title: "four", url: "http://four" }),
  ];
  const found = (reference: string) => findAgent(reference, there).agent.name;
  expect(["two", "three", "four", "http://one/", "http://three"].map(found)).toEqual([
    "two",
    "three",
    "TWO",
    "one",
    "three",
  ]);
});

test("a skill's own id counts before all words, whichever skill of its agent it is, and of equals the first", () => {
  const there = [
    agent("one", { skills: [skill("a", "Tables"), skill("b", "Tables and graphs", ["graphs"])] }),
    agent("two", { skills: [skill("charts", "Anything"), skill("c", "x", [], "tables")] }),
    agent("three", { skills: [skill("x", "x"), skill("charts", "Tables")] }),
  ];
  const by = (words: string) => findAgent(`skill:${words}`, there);
  expect(by("charts").agent.name).toBe("two");
  expect(by("tables graphs please")).toEqual({
    agent: there[0] as AgentEntry,
    reason: `one's skill "Tables and graphs" fits best: tables, graphs.`,
  });
  expect(by("tables").agent.name).toBe("one");
});

test("an unknown name or skill is refused with the list of agents", () => {
  expect(() => findAgent("manu", agents)).toThrow('There is no agent "manu"; there are: manus, data-analysis, swe.');
  expect(() => findAgent("skill:of the", agents)).toThrow("No agent has a skill like");
  expect(() => findAgent("skill:", [])).toThrow('No agent has a skill like ""; there are: none.');
});

test("an agent that the flow works with is found by name or skill, any other known one by its name alone", () => {
  const cook = agent("cook", { skills: [skill("bake", "Bake bread")] });
  const other = agent("manus", { url: "http://elsewhere/manus" });
  const both = { entries: agents, known: [other, cook] };
  expect(namedAgent("manus", both).agent.url).toBe("http://127.0.0.1/manus");
  expect(namedAgent(" Cook ", both)).toEqual({ agent: cook });
  expect(namedAgent(" skill: fix_bugs ", both).agent.name).toBe("swe");
  expect(() => namedAgent("skill:bake", both)).toThrow('No agent has a skill like "bake"; there are: manus');
});

test.each([
  ["http://a.example", true],
  [" HTTPS://a.example/x ", true],
  ["ftp://a.example", false],
  ["see http://a.example", false],
  ["swe", false],
])("%j is an address: %p", (reference, is) => {
  expect(isAddress(reference)).toBe(is);
});
