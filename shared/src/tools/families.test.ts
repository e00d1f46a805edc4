import { expect, test } from "bun:test";
import type { Tool } from "../core/tools/tool.ts";
import { browser, editor, families, images } from "./families.ts";
import { isFamily, type Observe, type ToolMachine } from "./family.ts";

const tool = (name: string, rest: Partial<Tool> = {}) => ({ name, ...rest }) as Tool;
const look: Observe = async () => undefined;

/** A machine whose tools say by their names where they come from. */
const machine: ToolMachine = {
  planning: tool("planning"),
  askHuman: tool("ask_human"),
  seeImage: tool("see_image"),
  editor: tool("str_replace_editor"),
  shell: [tool("bash", { family: "shell" }), tool("python_execute", { family: "python" })],
  ...{
    documents: [tool("read_document")],
    archives: [tool("unpack")],
    web: [tool("web_fetch")],
    desktop: [tool("computer_use")],
  },
  ...{
    delegate: [tool("delegate")],
    data: [tool("sql_query")],
    tables: [tool("sql_query", { family: "tables" })],
    code: [tool("glob")],
  },
  browser: { tools: [tool("browser_refresh", { opens: "browser" })], look },
};

test("each family opens the machine's tools of its kind, and none of another", () => {
  const opened = families.map((family) => [family.family, family.open(machine).tools.map(({ name }) => name)]);
  expect(opened).toEqual([
    ["planning", ["planning"]],
    ["shell", ["bash"]],
    ["python", ["python_execute"]],
    ["files", ["str_replace_editor", "see_image"]],
    ["documents", ["read_document"]],
    ["archives", ["unpack"]],
    ["web", ["web_fetch"]],
    ["data", ["sql_query"]],
    ["code", ["glob"]],
    ["human", ["ask_human"]],
    ["delegate", ["delegate"]],
    ["desktop", ["computer_use"]],
    ["browser", ["browser_refresh"]],
  ]);
  for (const family of families)
    for (const { name } of family.open(machine).tools) expect(family.toolNames).toContain(name);
  const names = families.flatMap(({ toolNames }) => toolNames);
  expect(new Set(names).size).toBe(names.length);
  const parts = [editor(), images()].map((family) => family.open(machine).tools.map(({ name }) => name));
  expect(parts).toEqual([["str_replace_editor"], ["see_image"]]);
});

test("a machine that lacks what a family needs has none of it", () => {
  const bare = { ...machine, shell: [], browser: { tools: [] } };
  for (const name of ["shell", "python", "browser"])
    expect(families.find(({ family }) => family === name)?.open(bare)).toMatchObject({ tools: [] });
});

test("of a browser an agent sees one tool at first unless it always browses, and the page as it wants it", () => {
  const [usual, always] = [browser(), browser({ atOnce: true })];
  expect([usual.isEssential, always.isEssential]).toEqual([false, true]);
  expect(usual.open(machine).tools[0]?.opens).toBe("browser");
  expect(always.open(machine).tools[0]).not.toHaveProperty("opens");
  const other: Observe = async () => undefined;
  const seen: Observe[] = [];
  const watching = browser({
    observe(one) {
      seen.push(one);
      return other;
    },
  });
  expect([usual.open(machine).look, watching.open(machine).look, seen]).toEqual([look, other, [look]]);
  expect(watching.open({ ...machine, browser: { tools: [] } }).look).toBeUndefined();
});

test("an entry of an agent's list is a family or a tool", () => {
  expect(families.every(isFamily)).toBe(true);
  expect(isFamily(machine.planning)).toBe(false);
});
