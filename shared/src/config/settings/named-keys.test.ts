import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sectionsSchema } from "../sections/sections.ts";
import { readEnvironment } from "./environment.ts";
import { keyTree } from "./key-tree.ts";
import { readSettings } from "./settings.ts";
import { valueAt } from "./table.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-named-keys-"));
afterAll(() => rm(folder, { recursive: true }));

async function read(toml: string, env: Record<string, string>) {
  const file = join(folder, `${crypto.randomUUID()}.toml`);
  await writeFile(file, toml);
  return readSettings({ cwd: folder, file, env });
}

const auth = '\n[agents.swe.auth]\nkind = "bearer"';
test.each<[path: string, key: string, toml: string]>([
  ["llm", "api_key", "[llm]"],
  ["llm.small", "api_key", "[llm.small]"],
  ["databases.sales", "password", '[databases.sales]\nurl = "postgres://h/d"'],
  ["triggers.push", "secret", '[triggers.push]\ntype = "github"\nstart = "swe"\ntask = "t"'],
  ["notify.team", "url", '[notify.team]\ntype = "slack"'],
  ["notify.team", "secret", '[notify.team]\ntype = "webhook"'],
  ["notify.team", "password", '[notify.team]\ntype = "email"'],
  ["git.code", "token", "[git.code]"],
  ["auth.oidc", "client_secret", "[auth.oidc]"],
  ["agents.swe.auth", "secret", auth],
  ["agents.swe.auth", "subject", auth],
  ["peers.far.auth", "secret", `[peers.far]\nurl = "https://far.example"\n${auth.replace("agents.swe", "peers.far")}`],
  ["peers.far.auth", "subject", `[peers.far]\nurl = "https://far.example"\n${auth.replace("agents.swe", "peers.far")}`],
])(
  "[%s] takes %s from the variable that it names, before what else sets it, and it has to be there",
  async (...all) => {
    const [path, key, toml] = all;
    const where = [...path.split("."), key];
    const named = `${toml}\n${key} = "https://of-the-file.example"\n${key}_env = "ITS_OWN"\n`;
    const value = "https://of-the-variable.example";
    const { sections, origins } = await read(named, { ITS_OWN: value });
    expect([valueAt(sections, where), origins.get(where.join("."))]).toEqual([value, "ITS_OWN"]);
    for (const env of [{}, { ITS_OWN: "" }])
      await expect(read(named, env)).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining(`[${path}] ${key}_env names ITS_OWN, which is not set.`),
      });
  },
);

test("a customary name sets the key that it is known for, and no other", () => {
  const known = {
    OPENAI_API_KEY: "llm.api_key",
    OPENAI_BASE_URL: "llm.base_url",
    MANYHANDS_MODEL: "llm.model",
    MANYHANDS_TOKEN: "server.token",
    MANYHANDS_MCP: "mcp.file",
    GRPC_PORT: "server.grpc_port",
    HOST: "server.host",
    PORT: "server.port",
    PUBLIC_URL: "server.public_url",
    SANDBOX: "sandbox.tier",
    GATEWAY_PORT: "gateway.port",
    OTEL_EXPORTER_OTLP_ENDPOINT: "telemetry.otlp_endpoint",
    OTEL_EXPORTER_OTLP_HEADERS: "telemetry.otlp_headers",
    AWS_ENDPOINT_URL_S3: "artifacts.endpoint",
    AWS_REGION: "artifacts.region",
    AWS_ACCESS_KEY_ID: "artifacts.access_key_id",
    AWS_SECRET_ACCESS_KEY: "artifacts.secret_access_key",
    AWS_SESSION_TOKEN: "artifacts.session_token",
    SEARXNG_URL: "search.searxng.url",
    BRAVE_API_KEY: "search.brave.api_key",
    TAVILY_API_KEY: "search.tavily.api_key",
    EXA_API_KEY: "search.exa.api_key",
    SERPER_API_KEY: "search.serper.api_key",
    GOOGLE_CSE_API_KEY: "search.google_cse.api_key",
    GOOGLE_CSE_CX: "search.google_cse.cx",
    SWE_URL: "agents.swe.url",
    DATA_ANALYSIS_PORT: "agents.data-analysis.port",
  };
  const env = Object.fromEntries(Object.keys(known).map((name) => [name, "1"]));
  const { entries } = readEnvironment(env, keyTree(sectionsSchema));
  expect(Object.fromEntries(entries.map(({ variable, path }) => [variable, path.join(".")]))).toEqual(known);
});
