import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { flowList } from "../flows/flow-list.ts";
import { loadFlows } from "../flows/load-flows.ts";
import { flowSettings } from "./flow-settings.ts";
import { settingsFile } from "./settings-file.ts";

const root = mkdtempSync(join(tmpdir(), "manyhands-flow-settings-"));
afterAll(() => rm(root, { recursive: true }));

let count = 0;
/** The composed flows of a system with this file, which knows the agent `guest` beside its own. */
async function settingsWith(toml = "") {
  const cwd = join(root, String(++count));
  await mkdir(cwd);
  const path = join(cwd, "manyhands.toml");
  await writeFile(path, toml);
  const place = { cwd, file: path, env: {} };
  const config = await loadConfig(place);
  const flows = flowList(await loadFlows(config));
  const registry = { list: () => [{ name: "swe" }, { name: "guest" }] as never };
  const settings = flowSettings({ file: settingsFile(place), cwd, config, flows, registry });
  return { settings, flows, text: () => readFile(path, "utf8") };
}

const trip = { flow: "sequential", options: { steps: [{ agent: "swe" }, { agent: "guest" }] } };

test("a composed flow is there at once under its name, is replaced by one of the same flow, and goes with its table", async () => {
  const { settings, flows, text } = await settingsWith("# Ours.\n");
  await settings.save("trip", { ...trip, title: "Trip" });
  expect([flows.get("trip")?.title, await settings.list()]).toEqual([
    "Trip",
    [{ name: "trip", title: "Trip", ...trip }],
  ]);
  await settings.save("trip", { ...trip, title: undefined, description: "Goes." });
  expect([flows.get("trip")?.title, await settings.list()]).toEqual([
    "Trip",
    [{ name: "trip", description: "Goes.", ...trip }],
  ]);
  expect(await text()).toStartWith("# Ours.\n");
  await settings.remove("trip");
  expect([flows.get("trip"), flows.names.includes("trip")]).toEqual([undefined, false]);
  expect((await text()).trim()).toBe("# Ours.");
});

test.each([
  ["guest", trip, "conflict", "guest is a flow or an agent that is here"],
  ["swe", trip, "conflict", "swe is an agent of this system"],
  ["planning", trip, "conflict", "planning is a flow of this system"],
  ["there", { flow: "debate" }, "conflict", "there is composed of sequential"],
  ["Trip", trip, "invalid_input", "lower-case words"],
  // Nothing is composed of what is composed itself.
  ["again", { flow: "there" }, "invalid_input", 'there is no flow "there" to compose'],
  ["trip", { flow: "sequential" }, "invalid_input", "name the agents"],
] as const)("%s with %j is not saved but refused as %s: %s", async (name, composition, code, why) => {
  const there = '[flows.there]\nflow = "sequential"\nagents = ["swe"]\n';
  const { settings, flows, text } = await settingsWith(there);
  const before = flows.get(name);
  const refused = { code, message: expect.stringContaining(why) };
  await expect(settings.save(name, composition as typeof trip)).rejects.toMatchObject(refused);
  expect((await settings.check(name, composition as typeof trip)).problem).toContain(why);
  expect([await text(), flows.get(name)]).toEqual([there, before as never]);
});

test("names in a composition that nobody has are told, wherever they stand, but no addresses", async () => {
  const { settings } = await settingsWith();
  const unknown = async (agents: string[], options: object) =>
    (await settings.check("trip", { flow: "parallel", agents, options: options as never })).unknownAgents;
  expect(await unknown(["swe", "guest", "planning", "nobody", "nobody"], {})).toEqual(["nobody"]);
  expect(await unknown(["http://x.example", "skill:maps"], {})).toEqual([]);
  expect(await unknown([], { judge: "a", aggregator: "b", branches: [{ agent: "c", task: "d" }] })).toEqual([
    ...["a", "b", "c"],
  ]);
  expect(await settings.check("trip", trip)).toEqual({ unknownAgents: [] });
});

test("what is no composition is not removed, and says what it is", async () => {
  const { settings, text } = await settingsWith('[flows.mine]\nflow = "debate"\n');
  await expect(settings.remove("planning")).rejects.toMatchObject({ code: "conflict" });
  await expect(settings.remove("nothing")).rejects.toMatchObject({ code: "not_found" });
  expect(await text()).toContain("[flows.mine]");
});
