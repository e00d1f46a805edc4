import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { flows } from "@manyhands/flows/flows";
import { loadConfig } from "manyhands/internal/config/config";
import { flowNamed, loadFlows, ownerOf } from "./load-flows.ts";

const folder = mkdtempSync(join(tmpdir(), "manyhands-load-flows-"));
afterAll(() => rm(folder, { recursive: true }));

const head = `
import { defineFlow } from ${JSON.stringify(resolve(import.meta.dir, "../../../shared/src/core/flow.ts"))};
import * as z from ${JSON.stringify(Bun.resolveSync("zod", import.meta.dir))};
const made = (name) => defineFlow({
  name, title: name, description: name, version: "1.0.0", skills: [], options: z.strictObject({}), example: { text: "x" },
  perform: async () => ({ answer: "x" }),
});
`;

let count = 0;
async function load(source: string) {
  const file = `flow-${++count}.ts`;
  await writeFile(join(folder, file), `${head}${source}`);
  await writeFile(join(folder, "manyhands.toml"), `[flows.mine]\nentry = "${file}"\n`);
  return loadFlows(await loadConfig({ cwd: folder, env: {} }));
}

test("a module's flow is its default export or its only flow, under the table's name", async () => {
  for (const source of [
    'export default made("a");',
    'export default made("a");\nexport const other = made("b");',
    'export const a = made("a");\nexport const helper = 1;',
    'export const a = made("a");\nexport { a as again };',
  ]) {
    const flows = await load(source);
    expect(flows.at(-1)).toMatchObject({ name: "mine", title: "a" });
    expect(flows.map(({ name }) => name)).toContain("planning");
  }
});

test("the names of this system's flows and agents are taken, and no others", async () => {
  const config = await loadConfig({ cwd: folder, env: {} });
  expect(await ownerOf("swe", config)).toBe("an agent of this system");
  expect(await ownerOf("planning", config)).toBe("a flow of this system");
  expect(await ownerOf("mine", config)).toBeUndefined();
});

test("a flow cannot have the name of a registered agent", async () => {
  await mkdir(join(folder, ".manyhands"));
  const agents = [{ name: "mine", url: "http://127.0.0.1:1" }];
  await writeFile(join(folder, ".manyhands/agents.json"), JSON.stringify({ agents }));
  expect(await load('export const a = made("a");').catch((error) => error.message)).toContain(
    "mine is the agent that was registered at http://127.0.0.1:1. Give the flow another name.",
  );
  await rm(join(folder, ".manyhands"), { recursive: true });
});

test("a composed flow can be made of an own one or an added one, and takes no name that is taken", async () => {
  const composed = async (name: string, flow: string) => {
    const source = `${head}export default made("a");`;
    const file = `flow-${++count}.ts`;
    await writeFile(join(folder, file), source);
    const toml = `[flows.mine]\nentry = "${file}"\n[flows.${name}]\nflow = "${flow}"\n`;
    await writeFile(join(folder, "manyhands.toml"), toml);
    return (await loadFlows(await loadConfig({ cwd: folder, env: {} }))).map((one) => one.name);
  };
  expect((await composed("again", "mine")).slice(-2)).toEqual(["mine", "again"]);
  expect((await composed("plans", "planning")).slice(-2)).toEqual(["mine", "plans"]);
  for (const [name, owner] of [
    ["planning", "a flow of this system"],
    ["swe", "an agent of this system"],
  ] as const)
    await expect(composed(name, "mine")).rejects.toThrow(`${name} is ${owner}. Give the flow another name.`);
});

test("an agent of the settings cannot have the name of a flow", async () => {
  await writeFile(join(folder, "manyhands.toml"), "");
  const config = await loadConfig({ cwd: folder, env: {} });
  const agents = { ...config.agents, debate: Object.values(config.agents)[0] as never };
  await expect(loadFlows({ ...config, agents })).rejects.toThrow("[agents.debate]: debate is the name of a flow.");
});

test("a flow is found by its name alone, and an unknown name is told the known ones", () => {
  expect(flowNamed(flows, "debate").name).toBe("debate");
  const unknown = () => flowNamed(flows.slice(0, 2), "Debate");
  const names = flows.slice(0, 2).map(({ name }) => name);
  expect(unknown).toThrow(`There is no flow "Debate". There are: ${names.join(", ")}.`);
});

test.each([
  ["export const helper = 1;", "exports no flow, but helper."],
  ["", "exports no flow, but nothing."],
  ['export const a = made("a");\nexport const b = made("b");', "exports several flows (a, b)."],
  ['throw new Error("no such luck");', "cannot be loaded: no such luck."],
  ['throw new Error("The sentence ends.");', /cannot be loaded: The sentence ends\.$/],
  ["export const = 1;", "cannot be loaded: "],
])("a module with no flow, or several, is refused with what was found: %j", async (source, found) => {
  const refused = load(source);
  expect(refused).rejects.toThrow(found);
  expect(refused).rejects.toThrow('manyhands.toml, line 2: flows.mine.entry cannot be "flow-');
});
