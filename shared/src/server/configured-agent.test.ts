import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "../agent/define-agent.ts";
import { loadConfig } from "../config/config.ts";
import type { Tool } from "../core/tools/tool.ts";
import { browser, delegate, files, planning, python, shell, web } from "../tools/families.ts";
import type { ToolFamily } from "../tools/family.ts";
import type { Offers } from "./agent-source.ts";
import { configuredAgent } from "./configured-agent.ts";
import type { Machine } from "./machine/open-machine.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-configured-"));
afterAll(() => rm(folder, { recursive: true }));

const families = () => [files(), shell(), python(), web(), planning(), browser(), delegate()];
const whole = (tools: readonly (Tool | ToolFamily)[] = families()) =>
  defineAgent<Tool | ToolFamily>({
    ...{ name: "tester", title: "Tester", description: "", version: "1", skills: [], instructions: "Be good.", tools },
    limits: { steps: 7, tokens: 1_000 },
  });

/** The agent with these settings, and what its source was told each time it was asked. */
async function configured(toml: string, given: { tier?: string; tools?: ToolFamily[]; missing?: string } = {}) {
  const cwd = await mkdtemp(join(folder, "cwd-"));
  await writeFile(join(cwd, "manyhands.toml"), toml);
  const config = await loadConfig({ cwd, env: { MANYHANDS_HOME: join(cwd, "home"), OPENAI_API_KEY: "k" } });
  const machine = {
    sandbox: { tier: given.tier ?? "bwrap" },
    python: { found: Promise.resolve({ version: "3.12", libraries: ["numpy"], folders: [] }) },
  } as unknown as Machine;
  const told: Offers[] = [];
  const source = (offers: Offers) => {
    told.push(offers);
    return whole(given.tools);
  };
  const { agent, without } = await configuredAgent({ name: "helper", source }, { config, machine }, given.missing);
  return { agent, without: [...without].toSorted(), told };
}
const entry = `[agents.helper]\nurl = "http://127.0.0.1:1"\n`;

test("an agent has the name, limits, instructions and tool choice of the settings, and its own of all else", async () => {
  const { agent, without } = await configured(`${entry}extra_instructions = "Be brief."
tool_choice = "required"
[agents.helper.limits]
steps = 3
`);
  expect(agent).toMatchObject({ name: "helper", title: "Tester", toolChoice: "required" });
  expect(agent.limits).toMatchObject({ steps: 3, tokens: 1_000 });
  expect(agent.instructions).toBe("Be good.\n\nBe brief.");
  expect(without).toEqual([]);
  expect((await configured(entry)).agent.toolChoice).toBe(whole().toolChoice);
});

test("an agent knows what this machine offers it", async () => {
  const [{ told }, { told: bare }] = [
    await configured(`[search]\nenabled = false\n${entry}`, { missing: "No Chromium." }),
    await configured(`${entry}tools = ["shell"]`, { tier: "none" }),
  ];
  expect(told).toEqual([
    expect.objectContaining({
      runsCode: true,
      pythonLibraries: ["numpy"],
      fetches: false,
      browserMissing: "No Chromium.",
    }),
  ]);
  expect(bare).toEqual([
    expect.objectContaining({ runsCode: false, pythonLibraries: undefined, fetches: true, plans: false }),
  ]);
});

test("a small window leaves out families, but none that the agent is for, and its source is told of what is left", async () => {
  const { told, without } = await configured(`${entry}profile = "small"`);
  expect(without).toEqual(["browser", "delegate", "desktop"]);
  expect(told.map(({ browserMissing, plans }) => [browserMissing, plans])).toEqual([
    [undefined, true],
    ["It is switched off.", true],
  ]);
  const smallest = await configured(`${entry}profile = "smallest"`, { tools: [browser({ atOnce: true }), web()] });
  expect(smallest.without).toEqual(["delegate", "desktop", "planning", "web"]);
  expect(smallest.told.at(-1)).toMatchObject({ plans: false, readsWeb: false, browserMissing: undefined });
});
