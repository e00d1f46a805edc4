import { expect, test } from "bun:test";
import { entryForTest } from "../testing/flow.ts";
import { chooseAgents } from "./choose-agents.ts";

const swe = entryForTest("swe", "http://here/swe");
const debate = { ...entryForTest("debate", "http://here/debate"), kind: "flow" as const };
const agents = { list: async () => [swe, debate], read: async (url: string) => entryForTest("swe", url) };
const { signal } = new AbortController();
const choose = async (...wanted: string[]) =>
  (await chooseAgents(wanted, agents, signal)).entries.map(({ name, url }) => `${name} ${url}`);

test("without a choice all agents are taken, and no flow", async () => {
  expect(await chooseAgents(undefined, agents, signal)).toEqual({ entries: [swe], known: [swe, debate] });
  const none = { ...agents, list: async () => [debate] };
  await expect(chooseAgents(undefined, none, signal)).rejects.toMatchObject({ code: "unavailable" });
});

test("the caller's choice is taken in its order, more than once where it says so, flows and addresses too", async () => {
  expect(await choose("debate", "SWE", "http://here/swe/", "debate")).toEqual([
    "debate http://here/debate",
    "swe http://here/swe",
    "swe http://here/swe",
    "debate http://here/debate",
  ]);
});

test("agents that call themselves alike can be told apart", async () => {
  expect(await choose("http://there", "swe", "http://there", "http://elsewhere")).toEqual([
    "swe-2 http://there",
    "swe http://here/swe",
    "swe-2 http://there",
    "swe-3 http://elsewhere",
  ]);
});
