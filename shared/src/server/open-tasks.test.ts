import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { defineAgent } from "../agent/define-agent.ts";
import { loadConfig } from "../config/config.ts";
import type { MoreTools } from "../core/agent.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import { noWeb, type Tool } from "../core/tools/tool.ts";
import { openWorkspace } from "../machine/workspace/open-workspace.ts";
import { riskContextForTest } from "../testing/tool-context.ts";
import { shell, web } from "../tools/families.ts";
import type { ToolFamily } from "../tools/family.ts";
import { openMachine } from "./machine/open-machine.ts";
import { openTasks, type TaskParts } from "./open-tasks.ts";
import * as toolboxes from "./toolbox.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-open-tasks-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const tool = (name: string, family?: string) =>
  defineTool({
    name,
    ...(family && { family }),
    description: "A tool.",
    input: z.looseObject({}),
    effect: "pure",
    run: async () => "",
  });
const reaching = { ...tool("files__read"), reach: { opens: "named" } } as const;
const agent = defineAgent<Tool | ToolFamily>({
  name: "tester",
  title: "Tester",
  description: "",
  version: "1",
  skills: [],
  instructions: "",
  tools: [shell(), web(), tool("special")],
});
const mounted: MoreTools = {
  list: async () => ({ tools: [reaching], missing: [] }),
  offer: (tools) => tools,
  mayHave: () => true,
  release: async () => undefined,
};

/** What an agent's tasks are made of on a machine without a browser or a sandbox. */
async function opened(over: Partial<TaskParts> = {}, env: Record<string, string> = {}) {
  const cheap = { MANYHANDS_HOME: folder, MANYHANDS_BROWSER_ENABLED: "0", SANDBOX: "off" };
  const config = await loadConfig({ cwd: folder, env: { ...cheap, ...env } });
  const machine = await openMachine(join(folder, "workspaces"), config.sandbox);
  const without: ReadonlySet<string> = new Set();
  const delegate = [tool("delegate", "delegate")];
  const rest = { model: { name: "m" }, recall: undefined } as unknown as TaskParts;
  const tasks = await openTasks({
    ...rest,
    config,
    machine,
    agent,
    chosen: undefined,
    without,
    mounted,
    delegate,
    ...over,
  });
  await tasks.close();
  await machine.sandbox.close();
  return { ...tasks, names: tasks.definition.tools.map(({ name }) => name) };
}

test("an agent's tasks have its own tools, and delegate if it may ask others, but for those left out or not chosen", async () => {
  const profiles = { of: () => Promise.reject(new Error("not asked here")) } as unknown as TaskParts["profiles"];
  using opening = spyOn(toolboxes, "openToolbox");
  const { names, run, deps, live, notes } = await opened({ profiles });
  expect(opening.mock.calls[0]?.[2]).toEqual({ profiles, isAtWork: expect.any(Function) });
  expect(names).toEqual(expect.arrayContaining(["bash", "web_search", "web_fetch", "special", "delegate"]));
  expect([run.kind, deps.model.name, notes]).toEqual(["tester", "m", []]);
  expect(live).toEqual({ browser: undefined, desktop: undefined });
  expect(
    (await opened({ without: new Set(["web"]), delegate: [] })).names.filter((name) => name !== "python_execute"),
  ).toEqual(["bash", "special"]);
  expect((await opened({ chosen: ["web"] })).names).toEqual(["web_search", "web_fetch", "special"]);
});

test("the tools of an agent's MCP servers are judged as its own are, before they reach an address that nobody named", async () => {
  const { definition } = await opened();
  const workspace = await openWorkspace({ home: folder, principal: "ann", contextId: "led" });
  const listed = await definition.moreTools?.list("ann", AbortSignal.timeout(60_000));
  const own = definition.tools.find(({ name }) => name === "web_fetch");
  const url = "https://evil.example/?d=1";
  const judged = [listed?.tools[0], own].map((one) =>
    one?.risk?.({ url }, riskContextForTest(workspace, { takenIn: ["file"] })),
  );
  expect(await Promise.all(judged)).toEqual(Array(2).fill(`Open “${url}”, which you did not name`));
});

test("tools reach the web as the settings say, and not where it is switched off", async () => {
  const off = await opened({}, { MANYHANDS_SEARCH_ENABLED: "0" });
  expect([off.deps.fetch === noWeb, off.names.includes("web_fetch")]).toEqual([true, false]);
  const on = await opened();
  const refused = on.deps.fetch(AbortSignal.timeout(60_000), "http://10.0.0.1/");
  await expect(Promise.resolve(refused)).rejects.toMatchObject({ code: "forbidden" });
});
