import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./config.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-openmanus-"));
afterAll(() => rm(folder, { recursive: true }));

async function read(toml: string) {
  const file = join(folder, `${crypto.randomUUID()}.toml`);
  await writeFile(file, toml);
  return loadConfig({ cwd: folder, file, env: {} });
}

/** A model's table with the keys that every OpenManus example has. */
function table(name: string, keys: Readonly<Record<string, string>>): string {
  const rest = Object.entries(keys).map(([key, value]) => `${key} = '${value}'`);
  return `[${name}]\napi_key = "a key"\nmax_tokens = 16000\ntemperature = 0.0\n${rest.join("\n")}\n`;
}

/** OpenManus's example files with their keys and table names; texts and values are made up. */
const examples = {
  ppio: { api_type: "ppio", model: "maker/model", base_url: "https://api.ppio.example/v3/openai" },
  jiekouai: { api_type: "jiekou", model: "model-4-5", base_url: "https://api.jiekou.example/openai" },
  ollama: { api_type: "ollama", model: "little", base_url: "http://localhost:11434/v1" },
  anthropic: { model: "large", base_url: "https://api.anthropic.example/v1/" },
  google: { model: "flash", base_url: "https://google.example/v1beta/openai/" },
  azure: {
    api_type: "azure",
    model: "mini",
    base_url: "https://mine.example/openai/deployments/mini",
    api_version: "2024-08-01-preview",
  },
};

test.each(Object.entries(examples))("the example for %s is read, with its model for images", async (_, keys) => {
  const { model, models, notes, agents } = await read(
    table("llm", keys) + table("llm.vision", { ...keys, model: "eyes" }),
  );
  const apiType = "api_type" in keys && keys.api_type === "azure" ? "azure" : "openai";
  expect(model).toMatchObject({ name: keys.model, baseUrl: keys.base_url, apiType, maxOutputTokens: 16_000 });
  expect(models.vision).toMatchObject({ name: "eyes", apiKey: "a key", temperature: 0 });
  // The model takes text only, so far as its name says.
  expect(agents.manus?.roles.vision).toMatchObject({ name: "eyes", capabilities: { vision: true } });
  expect(notes.join("\n")).not.toContain("is not used");
});

test("an unknown provider type is treated as OpenAI-compatible, with a notice", async () => {
  const { model, notes } = await read(table("llm", examples.ppio) + table("llm.other", { api_type: "Azure" }));
  expect(model?.apiType).toBe("openai");
  expect(notes.filter((note) => note.includes("api_type"))).toEqual([
    expect.stringMatching(/line 5: llm\.api_type "ppio" is not known here: .* OpenAI-compatible/),
  ]);
});

test("the block for Bedrock speaks Converse in the region of its host", async () => {
  const host = "bedrock-runtime.us-west-2.amazonaws.com";
  const block = `[llm]\napi_type = "aws"\nmodel = "us.anthropic.claude-3-7-sonnet-20250219-v1:0"\nbase_url = "${host}"\nmax_tokens = 8192\ntemperature = 1.0\napi_key = "bear"\n`;
  const { model, notes } = await read(block);
  expect(model).toMatchObject({
    apiType: "aws",
    baseUrl: `https://${host}`,
    region: "us-west-2",
    maxOutputTokens: 8_192,
  });
  expect(notes).toEqual([]);
});

test("Bedrock's OpenAI-compatible endpoint is spoken to as such", async () => {
  const host = "bedrock-runtime.us-west-2.amazonaws.com";
  const own = `https://${host}/openai/v1`;
  const compatible = { apiType: "openai", baseUrl: own } as const;
  expect((await read(table("llm", { model: "m", base_url: host }))).model).toMatchObject(compatible);
  expect((await read(table("llm", { api_type: "aws", model: "m", base_url: own }))).model).toMatchObject(compatible);
});

test("a model for images is reported as not used where all agents' models see", async () => {
  const large = { ...examples.anthropic, model: "claude-3-7-sonnet-20250219" };
  const { notes } = await read(table("llm", large) + table("llm.vision", { model: "eyes" }));
  expect(notes.join("\n")).toContain("[llm.vision] is not used: the models of all agents see images themselves");
});

test("an address with unreplaced placeholders is refused with its place", async () => {
  for (const base_url of ["{YOUR_ENDPOINT}/openai/deployments/{ID}", "https://{NAME}.openai.azure.example"])
    await expect(read(table("llm", { api_type: "azure", model: "m", base_url }))).rejects.toThrow(
      /line 7: llm\.base_url cannot be .*Allowed: a URL that begins with http/,
    );
});

test("the whole example file is read: used keys apply, and each unused one is reported", async () => {
  const { browser, search, sandbox, notes } = await read(`
${table("llm", examples.anthropic)}
[browser]
headless = false
disable_security = true
extra_chromium_args = []
chrome_instance_path = ""
wss_url = ""
cdp_url = ""
[browser.proxy]
server = ""
username = ""
password = ""
[search]
engine = "Google"
fallback_engines = ["DuckDuckGo", "Baidu", "Bing"]
retry_delay = 60
max_retries = 3
lang = "zh"
country = ""
[sandbox]
use_sandbox = false
image = ""
work_dir = "/workspace"
memory_limit = "1g"
cpu_limit = 2.0
timeout = 300
network_enabled = true
[daytona]
daytona_api_key = ""
daytona_server_url = "https://daytona.example/api"
daytona_target = "us"
sandbox_image_name = "maker/sandbox:1"
sandbox_entrypoint = "/usr/bin/start"
VNC_password = ""
[mcp]
server_reference = "app.mcp.server"
[runflow]
use_data_analysis_agent = true
`);
  expect(browser).toMatchObject({ headless: false, disable_security: true, extra_chromium_args: [], proxy: {} });
  expect(browser.chrome_instance_path ?? browser.cdp_url ?? browser.proxy.server).toBeUndefined();
  expect(search).toMatchObject({ engine: "google", lang: "zh", country: "us" });
  expect(sandbox).toMatchObject({ memoryBytes: 2 ** 30, timeoutMs: 300_000 });
  const said = [/retry_delay/, /max_retries/, /use_sandbox/, /work_dir/, /cpu_limit/, /network_enabled/];
  for (const key of [...said, /\[daytona\]/, /server_reference/, /use_data_analysis_agent.*every agent/])
    expect(notes.filter((note) => key.test(note))).toHaveLength(1);
});

test("an empty text in the file counts as not set, wherever it is", async () => {
  const { model, models, home, agents } = await read(
    'home = ""\n[llm]\nmodel = "m"\napi_key = "k"\nbase_url = ""\napi_type = ""\napi_version = ""\n[llm.small]\nmodel = ""\n[agents.swe]\nmodel = ""\nurl = ""\n[server]\ntoken = ""\n',
  );
  expect(model).toMatchObject({ name: "m", baseUrl: "https://api.openai.com/v1" });
  expect(models.small?.name).toBe("m");
  expect(home).toBe(join(folder, ".manyhands"));
  expect(agents.swe).toMatchObject({ url: "http://127.0.0.1:4103", model: { name: "m" } });
});

test("a model's table that an agent or another model names is used, without a notice", async () => {
  const { notes } = await read(
    '[llm]\nmodel = "m"\napi_key = "k"\nfallback = "spare"\n[llm.spare]\nmodel = "s"\nfallback = "last"\n[llm.last]\nmodel = "l"\n[llm.small]\nmodel = "x"\n[agents.swe]\nmodel = "small"\n',
  );
  expect(notes).toEqual([]);
  const parts = ["summary", "extract", "planner", "sense"].map((name) => `[llm.${name}]\nmodel = "x"\n`).join("");
  const all = await read(`[llm]\nmodel = "m"\napi_key = "k"\n${parts}[memory]\nembeddings = "sense"\n`);
  expect(all.notes).toEqual([]);
});
