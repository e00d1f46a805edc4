import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { parse } from "smol-toml";
import { type ModelChange, modelSettings } from "./model-settings.ts";
import { settingsFile } from "./settings-file.ts";

const root = mkdtempSync(join(tmpdir(), "manyhands-model-settings-"));
afterAll(() => rm(root, { recursive: true }));

let count = 0;
/** The settings of a system that was started with this file and environment. */
async function settingsWith(toml: string, env: Record<string, string> = {}) {
  const cwd = join(root, String(++count));
  await mkdir(cwd);
  const path = join(cwd, "manyhands.toml");
  await writeFile(path, toml);
  const place = { cwd, file: path, env };
  const settings = modelSettings(settingsFile(place), await loadConfig(place));
  return { settings, path, llm: async () => parse(await readFile(path, "utf8")).llm as object };
}

const here = { model: "m", base_url: "https://one.example/v1", api_key: "sk-1" };
const tomlOf = (llm: object) =>
  `[llm]\n${Object.entries(llm)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
    .join("")}`;
const described = `${tomlOf({ ...here, provider: "one", api_type: "azure", api_version: "v", region: "eu" })}price = { input_per_million = 1, output_per_million = 2 }\ncapabilities = { vision = true }\n`;

test("the settings are shown with where each is set, the endpoint's password and the key not", async () => {
  const none = await settingsWith("");
  expect(await none.settings.view()).toEqual({
    file: none.path,
    baseUrl: { value: "https://api.openai.com/v1", source: "default" },
    restartNeeded: false,
  });
  const toml = tomlOf({ ...here, base_url: "https://ann:sesame@one.example/v1" });
  const { settings } = await settingsWith(toml, { MANYHANDS_MODEL: "of-env" });
  const shown = await settings.view();
  expect(JSON.stringify(shown)).not.toMatch(/sesame|sk-1/);
  expect(shown).toMatchObject({
    model: { value: "of-env", source: "MANYHANDS_MODEL" },
    baseUrl: { value: "https://(secret)@one.example/v1", source: expect.stringContaining("line 3") },
    apiKey: { source: expect.stringContaining("line 4") },
  });
});

const gone = { price: undefined, capabilities: undefined };
const elsewhere = { ...gone, provider: undefined, api_type: undefined, api_version: undefined, region: undefined };

test.each<readonly [ModelChange, object]>([
  [{ model: "m" }, {}],
  // Price and capabilities are the former model's.
  [{ model: "n" }, { model: "n", ...gone }],
  [{ baseUrl: here.base_url }, {}],
  [{ baseUrl: "https://one.example/other" }, { base_url: "https://one.example/other", ...elsewhere }],
  [
    { baseUrl: "https://two.example/v1", apiKey: "sk-2" },
    { base_url: "https://two.example/v1", api_key: "sk-2", ...elsewhere },
  ],
  [
    { baseUrl: "https://two.example/v1", apiKey: null },
    { base_url: "https://two.example/v1", api_key: undefined, ...elsewhere },
  ],
  [{ apiKey: "sk-2" }, { api_key: "sk-2" }],
])("of a model that is described at length, the change %j changes %j", async (change, expected) => {
  const { settings, llm } = await settingsWith(described);
  const before = await llm();
  await settings.save(change);
  const after = Object.entries({ ...before, ...expected }).filter(([, value]) => value !== undefined);
  expect(await llm()).toEqual(Object.fromEntries(after));
  expect((await settings.view()).restartNeeded).toBe(Object.keys(expected).length > 0);
});

test("the stored key goes to no other host, port or protocol, whatever else changes", async () => {
  for (const baseUrl of ["https://two.example/v1", "https://one.example:8443/v1", "http://one.example/v1"]) {
    const { settings, llm } = await settingsWith(tomlOf(here));
    const refused = {
      code: "invalid_input",
      message: expect.stringContaining("the stored key is for https://one.example."),
    };
    await expect(settings.save({ baseUrl })).rejects.toMatchObject(refused);
    await expect(settings.candidate({ baseUrl, model: "n" })).rejects.toMatchObject(refused);
    expect(await llm()).toEqual(here);
  }
});

test("a key that the file names by its variable gives way to a new one; any other variable takes precedence", async () => {
  const named = await settingsWith(tomlOf({ model: "m", api_key_env: "MY_KEY" }), { MY_KEY: "sk-env" });
  await expect(named.settings.save({ model: "n", apiKey: "sk-new" })).resolves.toBeUndefined();
  expect(await named.llm()).toEqual({ model: "n", api_key: "sk-new" });
  const env = { OPENAI_BASE_URL: "https://env.example/v1", MY_KEY: "sk-env" };
  const set = await settingsWith(tomlOf({ model: "m", api_key_env: "MY_KEY" }), env);
  await expect(set.settings.save({ baseUrl: "https://two.example/v1", apiKey: null })).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("OPENAI_BASE_URL is set"),
  });
  // What it says already changes nothing.
  await set.settings.save({ baseUrl: "https://env.example/v1", apiKey: null });
  expect(await set.llm()).toEqual({ model: "m", base_url: "https://env.example/v1" });
});

test("a candidate is the model with the change, without another to fall back to, and nothing is written", async () => {
  const toml = `${tomlOf({ ...here, fallback: "spare", temperature: 0 })}\n[llm.spare]\nmodel = "s"\n`;
  const { settings, path } = await settingsWith(toml);
  const candidate = await settings.candidate({ model: "n" });
  expect(candidate).toMatchObject({ name: "n", baseUrl: here.base_url, apiKey: "sk-1", temperature: 0 });
  expect(candidate.fallback).toBeUndefined();
  const moved = await settings.candidate({ baseUrl: "https://two.example/v1", apiKey: null });
  expect([moved.baseUrl, moved.apiKey]).toEqual(["https://two.example/v1", undefined]);
  expect(await readFile(path, "utf8")).toBe(toml);
  const none = await settingsWith("");
  await expect(none.settings.candidate({})).rejects.toMatchObject({ code: "invalid_input" });
});
