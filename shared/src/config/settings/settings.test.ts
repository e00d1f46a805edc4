import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import { loadConfig } from "../config.ts";
import { checkNamedFiles } from "../named-agent.ts";
import { readSettings } from "./settings.ts";
import { originBelow } from "./settings-error.ts";

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

async function folderWith(toml: string | undefined, name = "manyhands.toml"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-config-"));
  folders.push(folder);
  if (toml !== undefined) await writeFile(join(folder, name), toml);
  return folder;
}

async function refusal(toml: string | undefined, env: Record<string, string> = {}): Promise<string> {
  const cwd = await folderWith(toml);
  try {
    await loadConfig({ cwd, env });
  } catch (error) {
    if (error instanceof AppError && error.code === "config_invalid") return error.message;
    throw error;
  }
  throw new Error("accepted");
}

const openManusExample = `
[llm]
model = "claude-3-7-sonnet-20250219"
base_url = "https://api.anthropic.com/v1/"
api_key = "sk-example-key"
max_tokens = 8192
temperature = 0.0

[llm.vision]
model = "claude-vision"
max_tokens = 4096

[browser]
headless = false
[browser.proxy]
server = "http://proxy:3128"

[search]
engine = "Google"
fallback_engines = ["DuckDuckGo", "Baidu", "Bing"]

[sandbox]
use_sandbox = false
image = "python:3.12-slim"
memory_limit = "1g"
timeout = 300

[daytona]
daytona_api_key = "dt-secret"

[mcp]
server_reference = "app.mcp.server"

[runflow]
use_data_analysis_agent = false
`;

test("OpenManus's settings file is read unchanged, with notes on unused keys", async () => {
  const config = await loadConfig({ cwd: await folderWith(openManusExample), env: {} });
  expect(config.model).toMatchObject({
    name: "claude-3-7-sonnet-20250219",
    baseUrl: "https://api.anthropic.com/v1/",
    apiKey: "sk-example-key",
    maxOutputTokens: 8192,
    temperature: 0,
  });
  expect(config.models.vision).toMatchObject({
    name: "claude-vision",
    apiKey: "sk-example-key",
    maxOutputTokens: 4096,
    temperature: 0,
  });
  expect(config.browser).toMatchObject({ headless: false, proxy: { server: "http://proxy:3128" } });
  expect(config.search.fallback_engines).toEqual(["duckduckgo", "baidu", "bing"]);
  expect(config.sandbox).toMatchObject({ tier: "auto", memoryBytes: 2 ** 30, timeoutMs: 300_000 });
  expect(config.notes.join("\n")).toContain("[daytona] is not used");
  expect(config.notes.join("\n")).toContain("sandbox.image is not used");
});

test("a key or an endpoint configures a model, even without a model's name", async () => {
  const cwd = await folderWith(undefined);
  const modelBy = async (env: Record<string, string>) => (await loadConfig({ cwd, env })).model;
  expect(await modelBy({ OPENAI_API_KEY: "k" })).toMatchObject({ name: "gpt-5-mini", apiKey: "k" });
  const baseUrl = "http://127.0.0.1:9/v1";
  expect(await modelBy({ OPENAI_BASE_URL: baseUrl })).toMatchObject({ name: "gpt-5-mini", baseUrl });
});

test("without file and variables everything has its documented default", async () => {
  const cwd = await folderWith(undefined);
  const config = await loadConfig({ cwd, env: {} });
  expect(config.model).toBeUndefined();
  expect(config.home).toBe(join(cwd, ".manyhands"));
  expect(config.server.host).toBe("127.0.0.1");
  expect(config.gateway.port).toBe(4100);
  expect(Object.values(config.agents).map(({ url }) => url)).toEqual([
    "http://127.0.0.1:4101",
    "http://127.0.0.1:4102",
    "http://127.0.0.1:4103",
    "http://127.0.0.1:4104",
  ]);
  expect(config.notes).toEqual([]);
});

test("the environment overrides the file, by short and by systematic name", async () => {
  const cwd = await folderWith('[llm]\nmodel = "file"\n[llm.vision]\ntemperature = 1\n[limits]\nsteps = 5\n');
  const env = {
    OPENAI_API_KEY: "sk-from-env",
    OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
    MANYHANDS_MODEL: "env",
    MANYHANDS_LLM_MODEL: "systematic",
    MANYHANDS_LLM_VISION_MODEL: "eyes",
    MANYHANDS_HOME: "/tmp/elsewhere",
    MANYHANDS_AGENTS_DATA_ANALYSIS_LIMITS_STEPS: "9",
    MANYHANDS_BROWSER_HEADLESS: "0",
    MANYHANDS_BROWSER_EXTRA_CHROMIUM_ARGS: "--a, --b",
    MANUS_PORT: "0",
    PORT: "5000",
    SANDBOX: "bwrap",
    MANYHANDS_LLM_TEMPERATURE: "0",
    MANYHANDS_LLM_API_VERSION: "",
  };
  const config = await loadConfig({ cwd, env });
  expect(config.model).toMatchObject({ name: "env", apiKey: "sk-from-env", temperature: 0 });
  expect(config.models.vision).toMatchObject({ name: "eyes", temperature: 1 });
  expect(config.home).toBe("/tmp/elsewhere");
  expect(config.agents["data-analysis"]?.limits.steps).toBe(9);
  expect(config.agents.manus).toMatchObject({ port: 0, limits: { steps: 5 } });
  expect(config.browser).toMatchObject({ headless: false, extra_chromium_args: ["--a", "--b"] });
  expect(config.server.port).toBe(5000);
  expect(config.sandbox.tier).toBe("bwrap");
});

test("an agent's model is a table's name or a model's name at the same endpoint", async () => {
  const cwd = await folderWith(
    '[llm]\nmodel = "big"\napi_key = "k"\n[llm.small]\nmodel = "little"\n[agents.swe]\nmodel = "small"\n[agents.browser]\nmodel = "other"\n',
  );
  const { agents } = await loadConfig({ cwd, env: {} });
  expect(agents.manus?.model?.name).toBe("big");
  expect(agents.swe?.model?.name).toBe("little");
  expect(agents.browser?.model).toMatchObject({ name: "other", apiKey: "k" });
});

test("a misspelt key names file, line, key, the nearest name and all known ones", async () => {
  const message = await refusal('[server]\nhost = "127.0.0.1"\n\n[llm]\nmodle = "x"\n');
  expect(message).toBe(
    "manyhands.toml, line 5: [llm] has no key modle. Did you mean model? Known: api_key, api_key_env, api_type, api_version, base_url, capabilities, concurrency, fallback, families, first_delta_timeout, idle_timeout, image_detail, max_input_tokens, max_retries, max_tokens, model, price, provider, reasoning_effort, region, temperature, tokens_per_minute.",
  );
});

test("an unknown section, a misspelt agent and a key in a named table are refused", async () => {
  expect(await refusal('[lmm]\nmodel = "x"\n')).toStartWith(
    "manyhands.toml, line 1: there is no section [lmm]. Did you mean llm?",
  );
  expect(await refusal("[agents.manu]\nport = 1\n")).toContain(
    "[agents.manu] has neither entry nor url. Did you mean manus?",
  );
  expect(await refusal("[llm]\ncontext_window = 12000\n")).toContain(
    "[llm] has no key context_window. Did you mean capabilities.context_window?",
  );
  expect(await refusal('[llm.vision]\napikey = "x"\n')).toStartWith(
    "manyhands.toml, line 2: [llm.vision] has no key apikey. Did you mean api_key?",
  );
});

test("a bad value is reported with its source and the allowed values", async () => {
  expect(await refusal('[gateway]\nport = "x"\n')).toBe(
    'manyhands.toml, line 2: gateway.port cannot be "x". Allowed: a whole number from 0 up to 65535. GATEWAY_PORT sets it too.',
  );
  expect(await refusal(undefined, { GATEWAY_PORT: "4100x" })).toContain('gateway.port cannot be "4100x".');
  expect(await refusal(undefined, { MANUS_PORT: "70000" })).toBe(
    "MANUS_PORT: agents.manus.port cannot be 70000. Allowed: a whole number from 0 up to 65535.",
  );
  expect(await refusal(undefined, { SANDBOX: "docker" })).toBe(
    'SANDBOX: sandbox.tier cannot be "docker". Allowed: one of auto, srt, bwrap, landlock, off.',
  );
  expect(await refusal('[search]\nfallback_engines = ["Google", "Yahoo"]\n')).toContain(
    "Allowed: a list of Google, Baidu, DuckDuckGo, Bing, SearXNG, Brave, Tavily, Exa, Serper, google_cse.",
  );
  expect(await refusal("llm = 3\n")).toContain("llm cannot be 3. Allowed: a table.");
});

test("engines, their keys and private hosts are configurable, and no wildcard opens them all", async () => {
  const at = await folderWith('[search]\nengine = "Brave"\n[egress]\nallow = ["127.0.0.1:8080", "wiki.example"]\n');
  const { search, egress } = await loadConfig({
    cwd: at,
    env: { BRAVE_API_KEY: "b", SEARXNG_URL: "http://127.0.0.1:1" },
  });
  expect(search).toMatchObject({ engine: "brave", brave: { api_key: "b" }, searxng: { url: "http://127.0.0.1:1" } });
  expect(egress.allow).toEqual(["127.0.0.1:8080", "wiki.example"]);
  for (const entry of ["*", "*.example", "0.0.0.0/0", ""])
    expect(await refusal(`[egress]\nallow = [${JSON.stringify(entry)}]\n`)).toContain("egress.allow");
});

test("a refused secret is not repeated in the message", async () => {
  const message = await refusal('[server]\ntoken = "hunter2"\n');
  expect(message).toContain("server.token cannot be that value. Allowed: a secret of 8 characters or more.");
  expect(message).not.toContain("hunter2");
  const address = await refusal('[egress]\nproxy = "ftp://me:hunter2@proxy.example"\n');
  expect(address).toContain('egress.proxy cannot be "ftp://(secret)@proxy.example".');
});

test("a variable with our prefix that sets nothing is refused with the nearest name", async () => {
  expect(await refusal(undefined, { MANYHANDS_MODLE: "x" })).toContain("Did you mean MANYHANDS_MODEL?");
});

test("text that is not TOML is refused with line and column", async () => {
  expect(await refusal('[llm]\nmodel = "x\n')).toMatch(/^manyhands\.toml, line 2, column \d+: not valid TOML: /);
});

test("a file named on the command line must exist, may be anywhere, and overrides the environment's", async () => {
  const cwd = await folderWith("[gateway]\nport = 1\n", "config.toml");
  expect((await loadConfig({ cwd, file: "config.toml", env: {} })).gateway.port).toBe(1);
  expect((await loadConfig({ cwd, env: { MANYHANDS_CONFIG: "config.toml" } })).gateway.port).toBe(1);
  await writeFile(join(cwd, "other.toml"), "[gateway]\nport = 2\n");
  expect((await loadConfig({ cwd, env: { MANYHANDS_CONFIG: "" } })).gateway.port).toBe(4100);
  const env = { MANYHANDS_CONFIG: "other.toml" };
  expect((await loadConfig({ cwd, file: "config.toml", env })).gateway.port).toBe(1);
  expect(loadConfig({ cwd, file: "absent.toml", env: {} })).rejects.toThrow(
    "The settings file absent.toml does not exist.",
  );
});

test("an address others can reach is refused without a token", async () => {
  expect(await refusal(undefined, { HOST: "0.0.0.0" })).toContain("Set MANYHANDS_TOKEN");
  const config = await loadConfig({ cwd: "/", env: { HOST: "0.0.0.0", MANYHANDS_TOKEN: "long-enough" } });
  expect(config.server.token).toBe("long-enough");
  expect(config.agents.manus?.url).toBe("http://127.0.0.1:4101");
});

test("an address that only looks like this machine is refused without a token too", async () => {
  for (const host of ["12.0.0.1", "128.0.0.1", "10.0.0.1", "::", "localhost.example", "fe80::1"])
    expect(await refusal(undefined, { HOST: host })).toContain("which other machines can reach");
  for (const host of ["127.1.2.3", "localhost", "::1"]) await loadConfig({ cwd: "/", env: { HOST: host } });
});

test("an agent is reached at its listening address, or through loopback if it listens on all interfaces", async () => {
  const urlAt = async (HOST: string) =>
    (await loadConfig({ cwd: "/", env: { HOST, MANYHANDS_TOKEN: "long-enough", MANUS_PORT: "1" } })).agents.manus?.url;
  expect(await urlAt("0.0.0.0")).toBe("http://127.0.0.1:1");
  expect(await urlAt("::")).toBe("http://127.0.0.1:1");
  expect(await urlAt("::1")).toBe("http://[::1]:1");
  expect(await urlAt("10.0.0.1")).toBe("http://10.0.0.1:1");
});

test("no endpoint gets another's key, price or capabilities", async () => {
  const cwd = await folderWith(`
[llm]
model = "big"
base_url = "http://one.example/v1"
api_key = "key-of-one"
provider = "one"
temperature = 0.5
[llm.price]
input_per_million = 1
output_per_million = 2
[llm.capabilities]
vision = true
[llm.same]
base_url = "http://one.example/v1"
[llm.other]
base_url = "http://two.example/v1"
[llm.own]
base_url = "http://two.example/v1"
api_key = "key-of-two"
`);
  const { same, other, own } = (await loadConfig({ cwd, env: {} })).models;
  expect(same).toMatchObject({ apiKey: "key-of-one", provider: "one", price: { inputPerMillion: 1 } });
  expect(other).toMatchObject({ name: "big", temperature: 0.5, capabilities: {} });
  expect([other?.apiKey, other?.price, other?.provider]).toEqual([undefined, undefined, undefined]);
  expect(own?.apiKey).toBe("key-of-two");
});

test("sizes use 1024, units in either case, and bytes without a unit", async () => {
  const bytes = async (size: string) =>
    (await loadConfig({ cwd: await folderWith(`[sandbox]\nmemory_limit = "${size}"\n`), env: {} })).sandbox.memoryBytes;
  const sizes = ["512000000", "200000k", "100.5M", "1GB", "1gb"];
  const found = [512_000_000, 204_800_000, 105_381_888, 2 ** 30, 2 ** 30];
  expect(await Promise.all(sizes.map(bytes))).toEqual(found);
});

test("OpenManus's limit on input tokens applies if no other is set, and 0 means no limit", async () => {
  const tokens = async (toml: string) =>
    (await loadConfig({ cwd: await folderWith(toml), env: {} })).agents.manus?.limits.tokens;
  expect(await tokens("[llm]\nmax_input_tokens = 1000\n")).toBe(1000);
  expect(await tokens("[llm]\nmax_input_tokens = 0\n")).toBeUndefined();
  expect(await tokens("[llm]\nmax_input_tokens = 1000\n[limits]\ntokens = 7\n")).toBe(7);
});

test("Manus has the tools of all MCP servers, the others those of the named ones, and a star means all", async () => {
  const cwd = await folderWith('[agents.swe]\nmcp = ["files"]\n[agents.browser]\nmcp = ["files", "*"]\n');
  const { agents } = await loadConfig({ cwd, env: {} });
  expect(Object.values(agents).map(({ mcp }) => mcp)).toEqual(["all", "all", ["files"], []]);
  expect((await loadConfig({ cwd, env: { MANYHANDS_AGENTS_MANUS_MCP: "tickets" } })).agents.manus?.mcp).toEqual([
    "tickets",
  ]);
});

test("mcp.json is beside the settings file, wherever that is, or at a path relative to the working folder", async () => {
  const elsewhere = await folderWith("[gateway]\nport = 1\n", "its.toml");
  const cwd = await folderWith(undefined);
  const mcp = async (env: Record<string, string>) => (await loadConfig({ cwd, env })).mcp;
  const MANYHANDS_CONFIG = join(elsewhere, "its.toml");
  expect(await mcp({})).toMatchObject({ file: join(cwd, "mcp.json"), named: false });
  expect(await mcp({ MANYHANDS_CONFIG })).toMatchObject({ file: join(elsewhere, "mcp.json"), named: false });
  expect(await mcp({ MANYHANDS_CONFIG, MANYHANDS_MCP: "x/servers.json" })).toMatchObject({
    file: join(cwd, "x/servers.json"),
    named: true,
  });
});

test("booleans of the environment may be written in any case, and a table's name may not be left out", async () => {
  for (const [text, value] of [
    ["TRUE", true],
    ["False", false],
    ["1", true],
    ["0", false],
  ] as const)
    expect((await loadConfig({ cwd: "/", env: { MANYHANDS_DESKTOP_ENABLED: text } })).desktop.enabled).toBe(value);
  expect(await refusal(undefined, { MANYHANDS_DESKTOP_ENABLED: "yes" })).toContain("Allowed: true or false.");
  expect(await refusal(undefined, { MANYHANDS_PEERS_URL: "http://a.example" })).toContain("sets no known key");
});

test("a key within an inline table is found at the line of its table", async () => {
  const inline = '[llm]\nmodel = "m"\n\nprice = { input = 1 }\n';
  expect(await refusal(inline)).toStartWith("manyhands.toml, line 4: [llm.price] has no key input.");
  const quoted = '[limits.principals."a@b.example"]\nusd_per_day = 1\nruns = 1\n';
  expect(await refusal(quoted)).toStartWith("manyhands.toml, line 3: [limits.principals.a@b.example] has no key runs.");
});

test("every public address is refused without a token, and one of this machine is not", async () => {
  const keys = ["server.public_url", "gateway.public_url", "agents.swe.public_url"];
  for (const key of keys) {
    const toml = `${key} = "https://team.example/"\n`;
    expect(await refusal(toml)).toContain(`${key} is https://team.example, which other machines can reach`);
    const cwd = await folderWith(toml);
    const config = await loadConfig({ cwd, env: { MANYHANDS_TOKEN: "long-enough" } });
    const told = [config.server.publicUrl, config.gateway.publicUrl, config.agents.swe?.publicUrl];
    expect(told).toEqual(keys.map((one) => (one === key ? "https://team.example" : undefined)));
    await loadConfig({ cwd: await folderWith(`${key} = "http://localhost:8080"\n`), env: {} });
  }
});

test("a model without a key and without an endpoint is refused", async () => {
  expect(await refusal(undefined, { MANYHANDS_MODEL: "gpt" })).toContain("The model gpt needs OPENAI_API_KEY");
});

test("each setting shows its source", async () => {
  const cwd = await folderWith('[llm]\nmodel = "m"\nbase_url = "http://h"\n');
  const { origins } = await readSettings({ cwd, env: { OPENAI_BASE_URL: "http://other" } });
  expect(Object.fromEntries(origins)).toEqual({
    "llm.model": "manyhands.toml, line 2",
    "llm.base_url": "OPENAI_BASE_URL",
  });
});

test("a model's capabilities, price, patience and fallback come from its table", async () => {
  const cwd = await folderWith(`
[llm]
model = "big"
base_url = "http://127.0.0.1:1/v1"
fallback = "spare"
idle_timeout = 2.5
[llm.capabilities]
vision = true
context_window = 1000
[llm.price]
input_per_million = 1
output_per_million = 0
[llm.spare]
model = "little"
api_type = "azure"
`);
  const { model } = await loadConfig({ cwd, env: { MANYHANDS_LLM_CAPABILITIES_TOOLS: "false" } });
  expect(model).toMatchObject({
    idleTimeoutMs: 2500,
    capabilities: { vision: true, contextWindow: 1000, tools: false },
    price: { inputPerMillion: 1, outputPerMillion: 0 },
    fallback: { name: "little", apiType: "azure", baseUrl: "http://127.0.0.1:1/v1" },
  });
  expect(model?.fallback?.fallback).toBeUndefined();
});

test("flows have their own model, agents their tool choice and their time limit for answers", async () => {
  const cwd = await folderWith(
    '[llm]\nmodel = "big"\napi_key = "k"\n[llm.thinker]\nmodel = "wise"\n[flows]\nmodel = "thinker"\n[limits]\nanswer_seconds = 60\n[agents.swe]\ntool_choice = "required"\n[agents.swe.limits]\nanswer_seconds = 1.5\n',
  );
  const { flows, model, agents, notes } = await loadConfig({ cwd, env: {} });
  expect([flows.model?.name, model?.name]).toEqual(["wise", "big"]);
  expect(agents.swe).toMatchObject({ toolChoice: "required", limits: { answerMs: 1500 } });
  expect(agents.manus).toMatchObject({ toolChoice: undefined, limits: { answerMs: 60_000 } });
  expect(notes).toEqual([]);
  const plain = await loadConfig({ cwd: await folderWith('[llm]\nmodel = "big"\napi_key = "k"\n'), env: {} });
  expect(plain.flows.model?.name).toBe("big");
  expect(plain.agents.manus?.limits.answerMs).toBeUndefined();
});

test("a fallback that leads back to itself is refused", async () => {
  const circle = '[llm]\nmodel="m"\napi_key="k"\nfallback="a"\n[llm.a]\nfallback="b"\n[llm.b]\nfallback="a"\n';
  expect(await refusal(circle)).toBe("[llm] fallback goes in a circle: a → b → a.");
});

test("an agent is given tool families and agents to ask, of this system and elsewhere", async () => {
  const cwd = await folderWith(
    '[agents.swe]\ntools = ["shell", "code"]\ndelegates = ["far", "manus"]\n[peers.far]\nurl = "https://far.example"\ntoken = "secret"\n',
  );
  const config = await loadConfig({ cwd, env: { MANYHANDS_AGENTS_MANUS_TOOLS: "web, data" } });
  expect(config.agents.swe).toMatchObject({ tools: ["shell", "code"], delegates: ["far", "manus"] });
  expect(config.agents.manus).toMatchObject({ tools: ["web", "data"], delegates: ["browser", "swe", "data-analysis"] });
  expect(config.agents.browser).toMatchObject({ tools: undefined, delegates: [] });
  expect(config.peers.far).toMatchObject({
    url: "https://far.example",
    credentials: { identity: { kind: "bearer", secret: { text: "secret" } } },
  });
});

test("what is demanded of a card is said per agent, or for all; to pin keys is to demand a signature", async () => {
  const cwd = await folderWith(
    '[a2a]\ncard_policy = "signed-if-present"\n[agents.swe]\ncard_policy = "unsigned"\n[peers.far]\nurl = "https://far.example"\ncard_keys = "far.json"\n',
  );
  const { agents, peers, a2a } = await loadConfig({ cwd, env: {} });
  expect(agents.swe?.card).toEqual({ demand: "unsigned", keys: undefined });
  expect(agents.manus?.card).toEqual({ demand: "signed-if-present", keys: undefined });
  expect(a2a.card).toEqual({ demand: "signed-if-present", keys: undefined });
  expect(peers.far?.card).toEqual({ demand: "must-be-signed", keys: join(cwd, "far.json") });
  const plain = await loadConfig({ cwd: await folderWith(""), env: {} });
  expect(plain.a2a.card.demand).toBe("unsigned");
  const keyed = await loadConfig({ cwd: await folderWith('[gateway]\ncard_keys = "all.json"\n'), env: {} });
  expect([keyed.a2a.card.demand, keyed.agents.swe?.card.demand]).toEqual(["must-be-signed", "must-be-signed"]);
  expect(await refusal('[a2a]\ncard_policy = "signed"\n')).toContain("must-be-signed");
});

test("an unknown family or agent is refused with the list of known ones", async () => {
  expect(await refusal('[agents.manus]\ntools = ["shel"]\n')).toMatch(/agents\.manus.*tools.*planning, shell, python/);
  expect(await refusal('[agents.manus]\ndelegates = ["sew"]\n')).toMatch(/delegates names "sew".*browser, swe/);
  expect(await refusal('[agents.manus]\ndelegates = ["manus"]\n')).toContain('delegates names "manus"');
});

test("people can sign in only at an issuer that is told whole, and where there is a token for the operator", async () => {
  expect(await refusal('[auth.oidc]\nissuer = "https://id.example"\n')).toContain("needs issuer and client_id");
  const whole = '[auth.oidc]\nissuer = "https://id.example"\nclient_id = "a"\n';
  expect(await refusal(whole)).toContain("[auth.oidc] is set, but no token");
  expect(await refusal(`${whole}client_secret_env = "NOT_SET"\n`)).toContain("which is not set");
  expect(await refusal(`${whole}client_secret = "a"\nclient_secret_file = "b"\n`)).toContain("one client_secret");
  expect(await refusal(whole.replace("https", "http"))).toContain("an https URL, or one of this machine");
});

test("JWTs are accepted only where the issuer is told whole, and where there is a token for the operator", async () => {
  expect(await refusal('[auth.jwt]\nissuer = "https://id.example"\n')).toContain("[auth.jwt] needs issuer, audience");
  const whole = '[auth.jwt]\nissuer = "https://id.example"\naudience = "a"\njwks = "https://id.example/jwks"\n';
  expect(await refusal(whole)).toContain("no token, so everybody would be let in");
  expect(await refusal(whole.replace("jwks = ", 'jwks_file = "x"\njwks = '))).toContain(
    "either jwks (a URL) or jwks_file",
  );
  expect(await refusal('[auth.jwt]\njwks = "http://id.example/jwks"\n')).toContain(
    "an https URL, or one of this machine",
  );
});

test("what principals may use is set for all of them and for some by name", async () => {
  const toml = '[limits.principal]\nruns_at_once = 2\n[limits.principals."a@b.example"]\nusd_per_day = 0\n';
  const { quotas, agents } = await loadConfig({ cwd: await folderWith(toml), env: {} });
  expect(quotas).toEqual({ everybody: { runsAtOnce: 2 }, named: { "a@b.example": { usdPerDay: 0 } } });
  expect(agents.manus?.limits).not.toHaveProperty("runsAtOnce");
  const env = { MANYHANDS_LIMITS_PRINCIPAL_TOKENS_PER_DAY: "7" };
  expect((await loadConfig({ cwd: await folderWith(""), env })).quotas.everybody).toEqual({ tokensPerDay: 7 });
  const wrong = loadConfig({ cwd: await folderWith("[limits.principals.alice]\nruns = 1\n"), env: {} });
  await expect(wrong).rejects.toThrow(/\[limits\.principals\.alice\] has no key runs/);
});

test("ended runs, journals, workspaces and files of no run are each kept for their own time", async () => {
  const toml = '[retention]\nruns = "4d"\njournals = "3d"\nworkspaces = "2d"\nartifacts = "1d"\nevery = "2h"\n';
  const { retention } = await loadConfig({ cwd: await folderWith(toml), env: {} });
  const day = 86_400_000;
  const times = { runsMs: 4 * day, journalsMs: 3 * day, workspacesMs: 2 * day, artifactsMs: day, everyMs: day / 12 };
  expect(retention).toMatchObject(times);
});

test("the headers for a collector may have signs of equality in their values, and are percent-decoded", async () => {
  const env = { OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic dTpw==,x-key=let%20me" };
  const { telemetry } = await loadConfig({ cwd: await folderWith(undefined), env });
  expect(telemetry.otlpHeaders).toEqual({ authorization: "Basic dTpw==", "x-key": "let me" });
  await expect(
    loadConfig({ cwd: await folderWith(undefined), env: { OTEL_EXPORTER_OTLP_HEADERS: "x-key=100%" } }),
  ).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringMatching(/^OTEL_EXPORTER_OTLP_HEADERS: telemetry\.otlp_headers cannot be that value\./),
  });
});

test("an agent started alone has its table, by name in the file and in variables, and the next free port", async () => {
  const cwd = await folderWith("[gateway]\nport = 4106\n[agents.other]\nport = 4105\n[agents.same]\nport = 4105\n");
  const alone = await readSettings({ cwd, env: { MANYHANDS_AGENTS_MINE_MODEL: "own" }, agent: "mine" });
  expect(alone.sections.agents.mine).toMatchObject({ model: "own" });
  const plain = (await readSettings({ cwd, env: {}, agent: "mine" })).sections.agents;
  expect([plain.other?.port, plain.same?.port]).toEqual([4105, 4105]);
  const ports = Object.entries(plain).flatMap(([name, { port }]) => (name === "same" ? [] : [port]));
  expect(plain.mine?.port).toBe(4107);
  expect(new Set(ports).size).toBe(ports.length);
  expect(ports).not.toContain(undefined);
  expect((await readSettings({ cwd, env: {} })).sections.agents).not.toHaveProperty("mine");
});

test("what was set below a table is not what was set below one whose name begins or ends like it", () => {
  const origins = new Map([
    ["agents.swe2.port", "another"],
    ["old.agents.swe.port", "elsewhere"],
    ["agents.swe.port", "below"],
  ]);
  expect(originBelow({ origins }, ["agents", "swe"])).toBe("below");
  expect(originBelow({ origins: new Map([["agents.swe", "itself"]]) }, ["agents", "swe"])).toBe("itself");
  expect(originBelow({ origins }, ["agents", "sw"])).toBeUndefined();
});

test("the key that a table names for its endpoint beats every other, and has to be there", async () => {
  const toml =
    '[llm]\nmodel = "m"\napi_key = "of-the-file"\napi_key_env = "FIRST_KEY"\n[llm.small]\nmodel = "s"\napi_key_env = "SMALL_KEY"\n';
  const keys = { OPENAI_API_KEY: "of-openai", FIRST_KEY: "first-key", SMALL_KEY: "small-key" };
  const { model, models } = await loadConfig({ cwd: await folderWith(toml), env: keys });
  expect([model?.apiKey, models.small?.apiKey]).toEqual(["first-key", "small-key"]);
  for (const missing of [{ FIRST_KEY: "" }, { SMALL_KEY: "" }])
    expect(await refusal(toml, { ...keys, ...missing })).toContain(
      `api_key_env names ${Object.keys(missing)[0]}, which`,
    );
});

test("the keys of the gateway's section are demanded of every card, unless an agent has keys of its own", async () => {
  const cwd = await folderWith('[gateway]\ncard_keys = "all.json"\n[agents.swe]\ncard_keys = "own.json"\n');
  const { agents, a2a } = await loadConfig({ cwd, env: {} });
  const demanded = (name: string) => ({ demand: "must-be-signed" as const, keys: join(cwd, name) });
  expect([agents.manus?.card, agents.swe?.card, a2a.card]).toEqual([
    demanded("all.json"),
    demanded("own.json"),
    demanded("all.json"),
  ]);
});

test("a file of an agent or a flow that is not there is found before anything starts", async () => {
  for (const section of ["agents.mine", "flows.mine"]) {
    const config = await loadConfig({ cwd: await folderWith(`[${section}]\nentry = "gone.ts"\n`), env: {} });
    await expect(checkNamedFiles(config)).rejects.toThrow(`${section}.entry cannot be "gone.ts"`);
  }
  for (const table of ["gateway", "agents.swe", "peers.far"]) {
    const cwd = await folderWith(`peers.far.url = "https://far.example"\n${table}.card_keys = "gone.json"\n`);
    const config = await loadConfig({ cwd, env: {} });
    await expect(checkNamedFiles(config)).rejects.toThrow(`[${table}] card_keys: there is no file ${cwd}/gone.json.`);
    await Bun.write(join(cwd, "gone.json"), "{}");
    await checkNamedFiles(config);
  }
});

test("an empty text in the file is not set, at any depth, and shadows no default", async () => {
  const toml = 'home = ""\n[server]\nhost = ""\n[search]\nlang = ""\n[search.brave]\napi_key = ""\n';
  const cwd = await folderWith(toml);
  const { sections, origins } = await readSettings({ cwd, env: {} });
  expect([sections.home, sections.server.host, sections.search.lang]).toEqual([".manyhands", "127.0.0.1", "en"]);
  expect([sections.search.brave, origins.size]).toEqual([{}, 0]);
});
