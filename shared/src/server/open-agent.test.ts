import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { defineAgent } from "../agent/define-agent.ts";
import { gitConfig } from "../config/git-config.ts";
import { toolFamilyNames } from "../config/sections/agent-section.ts";
import { sectionsSchema } from "../config/sections/sections.ts";
import type { MoreTools } from "../core/agent.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import type { Tool } from "../core/tools/tool.ts";
import { createBrowsers } from "../machine/browser/create-browsers.ts";
import { browserDefaults } from "../machine/browser-process/settings.ts";
import { createSandbox } from "../machine/confinement/create-sandbox.ts";
import { createEgress } from "../machine/egress/egress.ts";
import type { Sandbox } from "../machine/sandbox/sandbox.ts";
import { createSecrets } from "../machine/secrets/secrets.ts";
import { openWorkspace } from "../machine/workspace/open-workspace.ts";
import { contextForTest } from "../testing/tool-context.ts";
import { browserTools } from "../tools/browser/browser-tools.ts";
import { extractContent } from "../tools/browser/extract/extract-content.ts";
import * as coding from "../tools/code/code-tools.ts";
import { createGitHosts } from "../tools/code/git-host.ts";
import * as data from "../tools/data/data-tools.ts";
import { createDatabases } from "../tools/data/database/databases.ts";
import { computerUse } from "../tools/desktop/computer-use.ts";
import { createDisplays } from "../tools/desktop/display-session.ts";
import * as documents from "../tools/documents/write-document.ts";
import { editor, families, images, shell } from "../tools/families.ts";
import type { ToolFamily } from "../tools/family.ts";
import * as editing from "../tools/files/str-replace-editor.ts";
import { terminate } from "../tools/human/terminate.ts";
import { createSnapshotStates } from "../tools/observation/elements/snapshot-state.ts";
import { createRobots } from "../tools/page/robots.ts";
import { createPlanning } from "../tools/planning/planning.ts";
import { createPythonInterpreters, pythonExecute } from "../tools/python/python-execute.ts";
import { bashTool, createShellSessions } from "../tools/shell/bash-tool.ts";
import { webFetch } from "../tools/web/web-fetch.ts";
import { webSearch } from "../tools/web/web-search.ts";
import { guardedMore, type MachineParts, openAgent } from "./open-agent.ts";

let folder: string;
let sandbox: Sandbox;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-families-"));
  sandbox = await createSandbox({ mode: "off", folder, network: { allow: [] }, limits: {} });
});
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
});

const tool = (name: string, family?: string) =>
  defineTool({
    name,
    ...(family && { family }),
    description: "A tool.",
    input: z.strictObject({}),
    effect: "pure",
    run: async () => "",
  });
const own = { ...createPlanning(), family: "planning" };
const agent = defineAgent<Tool | ToolFamily>({
  name: "tester",
  title: "Tester",
  description: "",
  version: "1",
  skills: [],
  instructions: "",
  tools: [own, shell(), tool("special"), terminate],
});
const databases = createDatabases();
const deps = () => ({
  sandbox,
  shell: [tool("bash", "shell"), tool("python_execute", "python")],
  web: [tool("web_search")],
  desktop: [tool("computer_use")],
  egress: undefined,
  browsing: { tools: [tool("browser_snapshot")], look: async () => undefined, missing: undefined } as const,
  databases,
  guarded: (own: Tool) => own,
  delegate: [tool("delegate")],
});
const namesWith = async (chosen: Parameters<typeof openAgent>[2]) =>
  (await openAgent(agent, deps(), chosen)).tools.map(({ name }) => name);

test("an agent without configured tools has its own, and delegate if it may ask others", async () => {
  expect(await namesWith(undefined)).toEqual(["planning", "bash", "special", "terminate", "delegate"]);
  expect((await openAgent(agent, { ...deps(), delegate: [] }, undefined)).tools[0]).toBe(own);
});

test("an agent stays who it is, sees the open page if it has the browser, in its own way if it has one, and has each tool once", async () => {
  const parts = deps();
  const opened = await openAgent(agent, parts, ["browser"]);
  expect(opened).toMatchObject({ name: "tester", title: "Tester", version: "1" });
  expect(opened.look).toBe(parts.browsing.look);
  expect((await openAgent(agent, deps(), ["web", "data"])).look).toBeUndefined();
  const look = async () => ({ text: "of its own" });
  expect((await openAgent({ ...agent, look }, deps(), ["browser"])).look).toBe(look);
  const twice = { ...agent, tools: [tool("bash"), ...agent.tools, tool("special")] };
  expect((await openAgent(twice, deps(), undefined)).tools.map(({ name }) => name)).toEqual([
    "bash",
    "planning",
    "special",
    "terminate",
    "delegate",
  ]);
});

test("families for which the model's window has no room are left out of an agent's own, and of no chosen ones", async () => {
  const left = async (chosen?: readonly string[]) =>
    (await openAgent(agent, deps(), chosen, new Set(["shell", "delegate"]))).tools.map(({ name }) => name);
  expect(await left()).toEqual(["planning", "special", "terminate"]);
  expect(await left(["shell"])).toEqual(["bash", "special", "terminate"]);
});

test("configured families are exactly what an agent has, besides tools without a family, in its own version if it defines one", async () => {
  expect(await namesWith(["planning", "web", "python"])).toEqual([
    "planning",
    "special",
    "terminate",
    "python_execute",
    "web_search",
  ]);
  expect((await openAgent(agent, deps(), ["planning"])).tools[0]).toBe(own);
  expect(await namesWith([])).toEqual(["special", "terminate"]);
});

test("the data and code families bring the tools of the other agents", async () => {
  expect(await namesWith(["data", "code"])).toEqual(
    expect.arrayContaining([
      "sql_query",
      "data_visualization",
      "visualization_preparation",
      "apply_patch",
      "run_tests",
      "repo_map",
      "checkpoints",
    ]),
  );
});

test("documents are printed by the machine's browser, and data comes from the databases of the settings too", async () => {
  using writing = spyOn(documents, "writeDocument");
  using reading = spyOn(data, "dataTools");
  const printer = { print: async () => undefined } as unknown as NonNullable<MachineParts["printer"]>;
  const servers = { listed: [] } as unknown as NonNullable<MachineParts["servers"]>;
  await openAgent(agent, { ...deps(), printer, servers }, ["data", "documents"]);
  expect(writing.mock.calls[0]?.[0]).toEqual({ browser: printer });
  expect(reading.mock.calls[0]?.[0]).toMatchObject({ databases, servers, python: { name: "python_execute" } });
});

test("the code family's edits wait for the editor's, and it runs code only where there is a shell", async () => {
  using code = spyOn(coding, "codeTools");
  using editor = spyOn(editing, "createStrReplaceEditor");
  for (const shell of [deps().shell, []]) await openAgent(agent, { ...deps(), shell }, ["code", "files"]);
  expect(code.mock.calls.map(([{ runsCode }]) => runsCode)).toEqual([true, false]);
  expect(code.mock.calls.map(([{ edits }], at) => edits === editor.mock.calls[at]?.[0])).toEqual([true, true]);
});

test("with the code family an agent's own tools are undone by checkpoints too", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-families-"));
  const workspace = await openWorkspace({ home, principal: "ann", contextId: "c" });
  const { tools } = await openAgent(agent, deps(), ["code", "files"]);
  const call = async (name: string, input: object) =>
    (await tools.find((each) => each.name === name)?.call(input, contextForTest(workspace)))?.text;
  await call("str_replace_editor", { command: "create", path: "a.json", file_text: "{}" });
  expect(
    await call("str_replace_editor", { command: "str_replace", path: "a.json", old_str: "}", new_str: "" }),
  ).toContain("Diagnostics: a.json");
  await call("checkpoints", { command: "restore", id: 2 });
  expect(await Bun.file(join(workspace.root, "a.json")).text()).toBe("{}");
  await rm(home, { recursive: true });
});

test.each([
  ["bash", { command: "x" }, () => bashTool({ sessions: createShellSessions(sandbox) })],
  ["python_execute", { code: "x" }, () => pythonExecute({ sandbox, interpreters: createPythonInterpreters(sandbox) })],
] as const)("with the code family a change by %s is undone", async (name, input, made) => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-families-"));
  const workspace = await openWorkspace({ home, principal: "ann", contextId: "c" });
  const path = join(workspace.root, "a.txt");
  // Nothing runs in this sandbox: what a program would do is done here.
  const program: Tool = {
    ...made(),
    async call() {
      await Bun.write(path, "changed");
      return { text: "", isError: false };
    },
  };
  const { tools } = await openAgent(agent, { ...deps(), shell: [program] }, ["code", "shell", "python"]);
  const call = (tool: string, input: object) =>
    tools.find((each) => each.name === tool)?.call(input, contextForTest(workspace));
  await Bun.write(path, "as it was");
  await call(name, input);
  expect(await Bun.file(path).text()).toBe("changed");
  await call("checkpoints", { command: "restore", id: 1 });
  expect(await Bun.file(path).text()).toBe("as it was");
  await rm(home, { recursive: true });
});

test("every nameable family brings tools", async () => {
  for (const family of toolFamilyNames)
    expect([family, (await namesWith([family])).length > 2]).toEqual([family, true]);
});

test("the nameable families are the existing ones", () => {
  expect(families.map(({ family }) => family).toSorted()).toEqual([...toolFamilyNames].toSorted());
});

test("every tool that reaches outside is judged, the agent's own too, before checkpoints are made", async () => {
  const reaching = { ...tool("weather"), reach: { opens: "named" } } as const;
  const guarded = (own: Tool) => (own.reach === undefined ? own : { ...own, risk: async () => "It reaches outside." });
  const { tools } = await openAgent({ ...agent, tools: [...agent.tools, reaching] }, { ...deps(), guarded }, undefined);
  expect(tools.filter(({ risk }) => risk !== undefined).map(({ name }) => name)).toEqual(["weather"]);
});

test("every tool of an MCP server is judged before it is offered, and is the same object each time", async () => {
  const own = tool("web__fetch");
  const asked: unknown[] = [];
  const more: MoreTools = {
    async list(...given) {
      asked.push(given);
      return { tools: [own], missing: [{ name: "db", reason: "It is away." }] };
    },
    offer: (tools) => tools,
    mayHave: () => true,
    release: async () => undefined,
  };
  const judged = guardedMore(more, (one) => ({ ...one, description: "Judged." }));
  const [signal, tell] = [AbortSignal.timeout(60_000), () => undefined];
  const list = () => judged.list("p", signal, tell);
  const [first, again] = [await list(), await list()];
  expect(asked).toEqual(Array(2).fill(["p", signal, tell]));
  expect(first.tools.map(({ name, description }) => [name, description])).toEqual([["web__fetch", "Judged."]]);
  expect(judged.mayHave("web__fetch")).toBe(true);
  expect(first.missing).toEqual([{ name: "db", reason: "It is away." }]);
  expect(again.tools.every((one, at) => one === first.tools[at])).toBe(true);
});

test("families list all names their tools can have", async () => {
  const browsers = createBrowsers({ ...browserDefaults, folder, policy: { allow: [], deny: [], only: [] } });
  const egress = createEgress({ allow: [], deny: [], only: [] });
  const looks = createSnapshotStates();
  const page = { egress, robots: createRobots(egress) };
  const size = { width: 1, height: 1 };
  const machine: MachineParts = {
    ...deps(),
    egress,
    gitHosts: createGitHosts(
      gitConfig({
        sections: sectionsSchema.parse({ git: { "git.example": {} } }),
        ...{ origins: new Map(), file: undefined, agent: undefined },
      }),
    ),
    web: [webSearch({ ...page, engines: [], lang: "en", country: "us" }), webFetch(page)],
    desktop: [computerUse({ displays: createDisplays(sandbox, size), size })],
    browsing: {
      tools: [
        ...browserTools({ browsers, looks, search: async () => [], secrets: createSecrets([]) }),
        extractContent({ browsers, pieceCharacters: 1 }),
      ],
      look: async () => undefined,
      missing: undefined,
    },
  };
  for (const family of [...families, editor(), images()]) {
    const { tools } = await openAgent(
      { ...agent, tools: [family] },
      { ...machine, delegate: family.family === "delegate" ? machine.delegate : [] },
      undefined,
    );
    expect([family.family, tools.map(({ name }) => name).toSorted()]).toEqual([
      family.family,
      [...family.toolNames].toSorted(),
    ]);
  }
  await browsers.close();
});
