import { expect, test } from "bun:test";
import * as z from "zod";
import type { MoreTools } from "../../core/agent.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";

let calls = 0;
const tool = (name: string, more: Pick<Tool, "family" | "opens" | "neededFor"> = {}) =>
  defineTool({
    name,
    description: name,
    input: z.strictObject({}),
    effect: "pure",
    run: async () => `${name} ${calls++} lorem ipsum `.repeat(300),
    ...more,
  });
const tools = [
  tool("read"),
  tool("go", { family: "pages", opens: "pages" }),
  tool("click", { family: "pages" }),
  tool("look", { family: "pages", opens: "points" }),
  tool("point", { family: "points" }),
];
const namesIn = (request: { body: { tools?: readonly { function: { name: string } }[] | undefined } }) =>
  (request.body.tools ?? []).map((one) => one.function.name).join(" ");
const call = (name: string) => ({ calls: [{ name, args: {} }] });

test("a family is offered once a tool that opens it was called, and from then on, in the next task too", async () => {
  const script = [call("read"), call("go"), call("look"), call("read"), { text: "done" }, { text: "again" }];
  await using it = await agentForTest({ tools, script });
  await it.run("first");
  await it.run("second");
  const all = "read go click look point";
  expect(it.model.requests.map(namesIn)).toEqual(["read go", "read go", "read go click look", all, all, all]);
});

test("families that open come after all other tools, which stay in the cached prefix", async () => {
  const more = [tool("go", { family: "pages", opens: "pages" }), tool("click", { family: "pages" }), tool("read")];
  await using it = await agentForTest({ tools: more, script: [call("go"), { text: "done" }] });
  await it.run("go");
  expect(it.model.requests.map(namesIn)).toEqual(["read go", "read go click"]);
});

test("a tool that was not offered can be called, and opens its family", async () => {
  await using it = await agentForTest({ tools, script: [call("click"), { text: "done" }] });
  const { events } = await it.run("go");
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-ended", name: "click", isError: false }));
  expect(it.model.requests.map(namesIn)).toEqual(["read go", "read go click look"]);
});

test("an open family stays open when the conversation is summed up", async () => {
  const turns = Array.from({ length: 12 }, () => call("read"));
  let turn = 0;
  await using it = await agentForTest({
    tools,
    model: { capabilities: { contextWindow: 8_000, maxOutputTokens: 4_000 } },
    script: ({ tools: offered = [] }) => {
      // The request for the summary offers no tools.
      if (offered.length === 0) return { text: "They read a lot." };
      turn++;
      return turn === 1 ? call("go") : (turns.pop() ?? { text: "done" });
    },
  });
  const { events } = await it.run("read it");
  expect(events.some(({ type }) => type === "context-compacted")).toBe(true);
  expect(namesIn(it.model.requests.at(-1) ?? { body: {} })).toBe("read go click look");
});

test("a closed family stays closed beside tools that change, and its tools can be called all the same", async () => {
  const moreTools = {
    list: async () => ({ tools: [tool("a__one")], missing: [] }),
    offer: (listed: ReturnType<typeof tool>[]) => listed,
    mayHave: () => true,
    release: async () => undefined,
  } as unknown as MoreTools;
  await using it = await agentForTest({ tools, agent: { moreTools }, script: [call("click"), { text: "done" }] });
  const { events } = await it.run("go");
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-ended", name: "click", isError: false }));
  expect(it.model.requests.map(namesIn)).toEqual(["read go a__one", "read go click look a__one"]);
});

/** A family that appears when the user speaks of maps, or a result names one of its tools. */
const maps = [
  tool("read"),
  tool("open_map", {
    family: "maps",
    neededFor: (text, from) => (from === "user" ? /\bmap\b/ : /open_map/).test(text),
  }),
  tool("fold_map", { family: "maps" }),
];

test("a family is offered once the user's words call for it, or the name of a file they sent", async () => {
  await using it = await agentForTest({
    tools: maps,
    script: [call("read"), { text: "1" }, { text: "2" }, { text: "3" }],
  });
  await it.run("look around");
  await it.run("open the map");
  await it.run("and now something else");
  expect(it.model.requests.map(namesIn)).toEqual(["read", "read", "read open_map fold_map", "read open_map fold_map"]);
});

test("a result that names a tool brings its family, and other words in results do not", async () => {
  const say = (name: string, text: string) => ({ ...tool(name), call: async () => ({ text, isError: false }) });
  const tools = [...maps, say("list", "a map, a key"), say("view", "open_map opens it")];
  await using it = await agentForTest({ tools, script: [call("list"), call("view"), { text: "done" }] });
  await it.run("what is there?");
  const always = "read list view";
  expect(it.model.requests.map(namesIn)).toEqual([always, always, `${always} open_map fold_map`]);
});
