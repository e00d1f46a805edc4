import { expect, test } from "bun:test";
import type { Tool } from "../../core/tools/tool.ts";
import { neededIn, nothingYet, toolsNow } from "./tools-now.ts";

const tool = (name: string, more: Partial<Tool> = {}) => ({ name, ...more }) as Tool;
const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name).join(" ");
const { signal } = new AbortController();
const step = { signal, progress: () => undefined };
const user = (...texts: string[]) => ({
  role: "user" as const,
  parts: texts.map((text) => ({ type: "text" as const, text })),
});
const result = (text: string) => ({ role: "tool" as const, callId: "c", name: "read", text, isError: false });

test("a tool that is listed beside the agent's own is left out if its name is taken, and called if it is only offered", async () => {
  const own = [tool("one"), tool("two")];
  const listed = [tool("two"), tool("three"), tool("four")];
  const seen: unknown[] = [];
  const moreTools = {
    list: async (...asked: unknown[]) => {
      seen.push(asked.slice(0, 2));
      return { tools: listed, missing: [{ name: "files", reason: "away" }] };
    },
    offer: (...given: unknown[]) => {
      seen.push(given);
      return [listed[1] as Tool, tool("find_tools")];
    },
  };
  const note = { ...user("a note"), note: true as const };
  const file = {
    role: "user" as const,
    parts: [{ type: "file", name: "a.csv" } as never, { type: "data", data: "x" } as never],
  };
  const messages = [user("Go.", "On."), note, file, result("done")];
  const now = await toolsNow({ tools: own, moreTools } as never, "alice", { messages, called: new Set() }, step);
  expect([names(now.callable), names(now.offered), now.missing]).toEqual([
    "one two three four find_tools",
    "one two three find_tools",
    [{ name: "files", reason: "away" }] as never,
  ]);
  expect(seen).toEqual([
    ["alice", signal],
    [[listed[1], listed[2]], [result("done")], ["Go.", "On.", "a.csv", ""]],
  ]);
});

test.each([
  ["", "read see go"],
  ["go", "read see go click look"],
  ["click", "read see go click look"],
  ["look", "read see go click look point"],
  ["point", "read see go point"],
  ["see", "read see go"],
  ["chart", "read see go chart"],
])("after a call of %j the model is offered %s", async (called, offered) => {
  const tools = [
    tool("read"),
    tool("go", { family: "pages", opens: "pages" }),
    tool("click", { family: "pages" }),
    tool("look", { family: "pages", opens: "points" }),
    tool("point", { family: "points" }),
    tool("see", { family: "sights" }),
    tool("chart", { family: "charts", neededFor: () => true }),
  ];
  const now = await toolsNow({ tools } as never, "alice", { ...nothingYet, called: new Set([called]) }, step);
  expect(names(now.offered)).toBe(offered);
  expect(names(now.callable)).toBe(names(tools));
});

test("a tool is needed for what the user says or what a result says, each by its own words, and not again", () => {
  const says = (wanted: string, by: string) => (text: string, who: string) => text.includes(wanted) && who === by;
  const tools = [
    tool("plain"),
    tool("chart", { neededFor: says("chart", "user") }),
    tool("sheet", { neededFor: says("xlsx", "result") }),
  ];
  const needed = (messages: readonly object[], known: readonly string[] = []) =>
    neededIn(messages as never, tools, new Set(known));
  expect(needed([user("Go."), user("no", "a chart")])).toEqual(["chart"]);
  expect(needed([result("nothing"), result("a.xlsx")])).toEqual(["sheet"]);
  expect(needed([user("a chart"), result("a.xlsx")])).toEqual(["chart", "sheet"]);
  expect(needed([user("a.xlsx"), result("a chart")])).toEqual([]);
  expect(needed([{ ...user("a chart"), note: true }])).toEqual([]);
  expect(needed([user("a chart"), result("a.xlsx")], ["chart"])).toEqual(["sheet"]);
  expect(needed([user("a chart")], ["chart", "sheet"])).toEqual([]);
});

test("what only shows pictures is offered to a model that sees, and to others stays callable", async () => {
  const tools = [tool("edit"), tool("see", { needsSight: true })];
  const offered = async (vision: boolean) => {
    const now = await toolsNow({ tools } as never, "alice", nothingYet, { ...step, vision });
    return [names(now.offered), names(now.callable)];
  };
  expect(await offered(true)).toEqual(["edit see", "edit see"]);
  expect(await offered(false)).toEqual(["edit", "edit see"]);
});
