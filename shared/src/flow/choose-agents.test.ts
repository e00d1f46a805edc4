import { expect, test } from "bun:test";
import { entryForTest } from "../testing/flow.ts";
import { chooseAgents } from "./choose-agents.ts";

const swe = entryForTest("swe", "http://here/swe");
const debate = { ...entryForTest("debate", "http://here/debate"), kind: "flow" as const };
const registry = { list: async () => [swe, debate], read: async (url: string) => entryForTest("swe", url) };
const { signal } = new AbortController();
const choose = async (...wanted: string[]) =>
  (await chooseAgents(wanted, registry, signal)).entries.map(({ name, url }) => `${name} ${url}`);

test("without a choice all agents are used, and no flow", async () => {
  expect(await chooseAgents(undefined, registry, signal)).toEqual({ entries: [swe], known: [swe, debate] });
  const none = { ...registry, list: async () => [debate] };
  await expect(chooseAgents(undefined, none, signal)).rejects.toMatchObject({ code: "unavailable" });
});

test("a flow that asks only some agents works with those that are there, and knows no other", async () => {
  expect(await chooseAgents(undefined, registry, signal, ["swe", "gone"])).toEqual({ entries: [swe], known: [swe] });
  expect(await chooseAgents(undefined, registry, signal, ["swe", "debate"])).toEqual({
    entries: [swe],
    known: [swe, debate],
  });
  expect(await chooseAgents(undefined, registry, signal, ["gone"])).toEqual({ entries: [swe], known: [swe, debate] });
});

test("the caller's agents are used in order, repeated if named twice, flows and addresses included", async () => {
  expect(await choose("debate", "SWE", "http://here/swe/", "debate")).toEqual([
    "debate http://here/debate",
    "swe http://here/swe",
    "swe http://here/swe",
    "debate http://here/debate",
  ]);
});

test("agents with the same title can be distinguished", async () => {
  expect(await choose("http://there", "swe", "http://there", "http://elsewhere")).toEqual([
    "swe-2 http://there",
    "swe http://here/swe",
    "swe-2 http://there",
    "swe-3 http://elsewhere",
  ]);
});
