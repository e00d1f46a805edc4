import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { loadConfig } from "./config.ts";
import { sectionsSchema } from "./sections/sections.ts";

const repository = resolve(import.meta.dir, "../../..");

let cwd = "";
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "manyhands-every-setting-"));
});
afterAll(() => rm(cwd, { recursive: true }));

const agent = (name: string, port: number) => ({
  entry: {
    key: `agents.${name}.entry`,
    name: `agents/${name}/src/server.ts`,
    folder: repository,
    origin: "default",
  },
  url: `http://127.0.0.1:${port}`,
  isOwn: true,
  publicUrl: undefined,
  grpcPort: 0,
  card: { demand: "unsigned" as const, keys: undefined },
  credentials: undefined,
  port,
  instructions: {},
  model: undefined,
  roles: {},
  limits: {},
  toolChoice: undefined,
  profile: "full" as const,
  tools: undefined,
  delegates: [],
  approve: [],
  risky: "ask" as const,
  serveMcp: false,
  mcp: [],
  skills: "all" as const,
});

test("without settings a system is private to this machine, asks before risky acts and keeps what the reference says", async () => {
  expect(await loadConfig({ cwd, env: {} })).toEqual({
    home: join(cwd, ".manyhands"),
    file: undefined,
    model: undefined,
    models: {},
    server: {
      host: "127.0.0.1",
      port: undefined,
      grpcPort: undefined,
      publicUrl: undefined,
      token: undefined,
      card: "merged",
      cors: [],
      tls: undefined,
    },
    auth: {},
    engine: { kind: "embedded" },
    gateway: { port: 4100, grpcPort: 0, publicUrl: undefined, checkMs: 15_000, patienceMs: 120_000 },
    a2a: {
      card: { demand: "unsigned", keys: undefined },
      keyOrigins: [],
      dedupeMs: 24 * 3_600_000,
      requiredExtensions: [],
    },
    telemetry: { otlpEndpoint: undefined, otlpHeaders: {}, sampled: 1 },
    quotas: { everybody: {}, named: {} },
    bucket: undefined,
    retention: {
      runsMs: 90 * 86_400_000,
      journalsMs: 7 * 86_400_000,
      workspacesMs: 90 * 86_400_000,
      artifactsMs: 86_400_000,
      everyMs: 3_600_000,
      summary:
        "ended runs are deleted after 90d, their journals are deleted after 7d, workspaces nobody opens are deleted after 90d, files of no run are deleted after 1d ([retention])",
    },
    flows: { model: undefined, added: {}, composed: {} },
    agents: {
      manus: { ...agent("manus", 4101), delegates: ["browser", "swe", "data-analysis"], mcp: "all" },
      browser: agent("browser", 4102),
      swe: agent("swe", 4103),
      "data-analysis": agent("data-analysis", 4104),
    },
    triggers: { schedules: [], triggers: [], notify: [] },
    databases: {},
    secrets: [],
    python: {
      packages: [
        "numpy",
        "pandas",
        "scipy",
        "matplotlib",
        "openpyxl",
        "python-docx",
        "python-pptx",
        "pypdf",
        "pdfplumber",
      ],
      requirements: undefined,
      environment: join(cwd, ".manyhands/python"),
    },
    memory: {
      principals: [],
      entries: 200,
      entryCharacters: 500,
      recall: { entries: 12, tokens: 800, similarity: 0.35 },
      embeddings: undefined,
    },
    git: [],
    peers: {},
    sandbox: { tier: "auto", memoryBytes: undefined, timeoutMs: undefined, allowDomains: [] },
    browser: {
      enabled: true,
      headless: true,
      disable_security: false,
      context: "fresh",
      extra_chromium_args: [],
      max_content_length: 20_000,
      scope: "task",
      trusted_hosts: [],
      window_width: 1280,
      window_height: 800,
      locale: "en-US",
      geolocation: { accuracy: 10 },
      patience_seconds: 30,
      idle_seconds: 600,
      max_contexts: 8,
      max_tabs: 20,
      max_download_bytes: 100_000_000,
      proxy: {},
    },
    search: {
      enabled: true,
      fallback_engines: [],
      lang: "en",
      country: "us",
      searxng: {},
      brave: {},
      tavily: {},
      exa: {},
      serper: {},
      google_cse: {},
      duckduckgo: {},
      bing: {},
      baidu: {},
      google: {},
    },
    egress: { allow: [], deny: [], only: [] },
    desktop: { enabled: false, width: 1280, height: 800 },
    projectSkills: join(cwd, ".agents/skills"),
    mcp: { file: join(cwd, "mcp.json"), named: false, patienceMs: 30_000, definitionTokens: 8_000 },
    notes: [],
  });
});

test("what the settings say arrives where it is used, in its units", async () => {
  await writeFile(
    join(cwd, "manyhands.toml"),
    `
    home = "h"
    [server]
    port = 4201
    grpc_port = 4202
    public_url = "https://agents.example/"
    token = "secret-token"
    card = "strict"
    cors = ["https://app.example"]
    [gateway]
    port = 4203
    grpc_port = 4204
    public_url = "https://team.example/"
    check_seconds = 2
    patience_seconds = 3
    [a2a]
    dedupe = "30m"
    key_origins = ["https://keys.example"]
    required_extensions = ["urn:x:1"]
    [telemetry]
    otlp_endpoint = "http://127.0.0.1:4318"
    otlp_headers = "a= b%20c ,d=e=f"
    sampled = 0.25
    [limits.principal]
    runs_at_once = 2
    [artifacts]
    bucket = "b"
    endpoint = "https://s3.example"
    region = "eu"
    prefix = "team/x"
    access_key_id = "id"
    secret_access_key = "key"
    session_token = "session"
    virtual_hosted = true
    workspace_mb = 3
    [retention]
    runs = "never"
    journals = "0"
    workspaces = "2h"
    artifacts = "3m"
    every = "4s"
    [sandbox]
    tier = "bwrap"
    memory_limit = "1.5G"
    timeout = 7.5
    allow_domains = ["example.com"]
    [mcp]
    file = "servers.json"
    start_seconds = 4
    definition_tokens = 5
    [agents.swe]
    port = 4206
    grpc_port = 4207
    public_url = "https://swe.example"
    tool_choice = "required"
    tools = ["shell"]
    delegates = ["manus"]
    approve = ["bash"]
    risky = "deny"
    serve_mcp = true
    mcp = ["files"]
    skills = ["release-notes"]
    [agents.swe.limits]
    steps = 1
    tokens = 2
    usd = 3
    wall_seconds = 4
    answer_seconds = 5
    calls_per_turn = 6
    parallel_calls = 7
    result_characters = 800
    [agents.browser]
    enabled = false`,
  );
  const config = await loadConfig({ cwd, env: {} });
  expect(config).toMatchObject({
    home: join(cwd, "h"),
    file: "manyhands.toml",
    server: {
      port: 4201,
      grpcPort: 4202,
      publicUrl: "https://agents.example",
      token: "secret-token",
      card: "strict",
      cors: ["https://app.example"],
    },
    gateway: { port: 4203, grpcPort: 4204, publicUrl: "https://team.example", checkMs: 2_000, patienceMs: 3_000 },
    a2a: { dedupeMs: 1_800_000, keyOrigins: ["https://keys.example"], requiredExtensions: ["urn:x:1"] },
    telemetry: {
      otlpEndpoint: "http://127.0.0.1:4318",
      otlpHeaders: { a: "b c", d: "e=f" },
      sampled: 0.25,
    },
    quotas: { everybody: { runsAtOnce: 2 } },
    bucket: {
      bucket: "b",
      endpoint: "https://s3.example",
      region: "eu",
      prefix: "team/x",
      accessKeyId: "id",
      secretAccessKey: "key",
      sessionToken: "session",
      virtualHosted: true,
      workspaceBytes: 3 * 1024 * 1024,
    },
    retention: {
      runsMs: undefined,
      journalsMs: 0,
      workspacesMs: 7_200_000,
      artifactsMs: 180_000,
      everyMs: 4_000,
      summary: expect.stringMatching(/journals are deleted at once, workspaces nobody opens are deleted after 2h/),
    },
    sandbox: { tier: "bwrap", memoryBytes: 1.5 * 1024 ** 3, timeoutMs: 7_500, allowDomains: ["example.com"] },
    mcp: { file: join(cwd, "servers.json"), named: true, patienceMs: 4_000, definitionTokens: 5 },
  });
  expect(Object.keys(config.agents)).toEqual(["manus", "swe", "data-analysis"]);
  expect(config.agents.swe).toMatchObject({
    url: "http://127.0.0.1:4206",
    port: 4206,
    grpcPort: 4207,
    publicUrl: "https://swe.example",
    toolChoice: "required",
    tools: ["shell"],
    delegates: ["manus"],
    approve: ["bash"],
    risky: "deny",
    serveMcp: true,
    mcp: ["files"],
    skills: ["release-notes"],
    limits: {
      steps: 1,
      tokens: 2,
      usd: 3,
      wallMs: 4_000,
      answerMs: 5_000,
      callsPerTurn: 6,
      parallelCalls: 7,
      resultCharacters: 800,
    },
  });
  expect(config.agents.manus?.delegates).toEqual(["swe", "data-analysis"]);
});

test("what is named beside the settings or in the home is found there", async () => {
  const file = join(cwd, "project", "its.toml");
  await mkdir(join(cwd, "project"), { recursive: true });
  const toml = `
    home = "h"
    [llm]
    model = "m"
    api_key = "k"
    [llm.sense]
    model = "s"
    [memory]
    embeddings = "sense"
    recall_entries = 3
    recall_tokens = 4
    entry_characters = 50
    [secrets.shop]
    sites = ["https://shop.example"]
    file = "shop.txt"
    [databases.sales]
    url = "sqlite:sales.db"
    [a2a]
    dedupe = "off"`;
  await writeFile(file, toml);
  const { projectSkills, python, memory, secrets, databases, a2a } = await loadConfig({ cwd, file, env: {} });
  expect([projectSkills, python.environment]).toEqual([join(cwd, "project/.agents/skills"), join(cwd, "h/python")]);
  expect(memory).toMatchObject({ entryCharacters: 50, recall: { entries: 3, tokens: 4 }, embeddings: { name: "s" } });
  expect(secrets[0]?.source).toEqual({ file: join(cwd, "shop.txt") });
  expect([databases.sales?.url, a2a.dedupeMs]).toEqual([`sqlite:${join(cwd, "sales.db")}`, 0]);
});

const table = { url: "postgres://h/d" };
const start = { start: "swe", task: "t" };
const hook = { ...start, type: "hmac", secret: "long-enough" };
test.each<[path: string, table: object, right: readonly unknown[], wrong: readonly unknown[]]>([
  ["databases.d.rows", table, [1, 100_000], [0, 100_001]],
  ["databases.d.timeout", table, [0.1, 600], [0.09, 601]],
  ["peers.p.url", {}, ["http://p.example"], ["p.example", "file:///p", "ftp://p.example"]],
  ["schedules.s.principal", { ...start, cron: "@daily" }, ["ann", "a@b.example"], ["a b", "", "x".repeat(201), "a\n"]],
  ["schedules.s.task", { ...start, cron: "@daily" }, ["t".repeat(20_000)], ["t".repeat(20_001), ""]],
  ["triggers.t.secret", hook, ["12345678"], ["1234567"]],
  ["triggers.t.signature_header", hook, ["X-Sig"], ["X Sig", "X:Sig", "", "X-Sig\n"]],
  ["notify.n.to", { type: "email" }, [["a@b.example"]], [[], Array(51).fill("a@b.example")]],
])("%s in a table of its own takes what it can be and nothing else", (path, own, right, wrong) => {
  const [section = "", name = "", key = ""] = path.split(".");
  const fits = (value: unknown) =>
    sectionsSchema.safeParse({ [section]: { [name]: { ...own, [key]: value } } }).success;
  expect(right.filter((value) => !fits(value))).toEqual([]);
  expect(wrong.filter(fits)).toEqual([]);
});

/** Whether the schema takes a value for a key. */
function takes(key: string, value: unknown): boolean {
  const table = key.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
  return sectionsSchema.safeParse(table).success;
}

const port = [0, 65_535] as const;
const bounds: [key: string, least: number, most: number, step?: number][] = [
  ["server.port", ...port],
  ["server.grpc_port", ...port],
  ["gateway.port", ...port],
  ["gateway.grpc_port", ...port],
  ["gateway.check_seconds", 1, 86_400],
  ["gateway.patience_seconds", 1, 86_400],
  ["telemetry.sampled", 0, 1, 0.01],
  ["engine.connections", 1, 1_000],
  ["engine.restate.port", ...port],
  ["auth.oidc.session_hours", 0.01, 720, 0.001],
  ["artifacts.workspace_mb", 1, 1_000_000],
  ["desktop.width", 640, 1_920],
  ["desktop.height", 480, 1_080],
  ["sandbox.timeout", 0.001, 31_536_000, 0.0005],
  ["sandbox.cpu_limit", 0, 1_024],
  ["mcp.start_seconds", 0, 3_600],
  ["mcp.definition_tokens", 0, 10_000_000],
  ["search.retry_delay", 0, 3_600],
  ["search.max_retries", 0, 100],
  ["browser.max_content_length", 100, 10_000_000],
  ["browser.window_width", 200, 10_000],
  ["browser.window_height", 200, 10_000],
  ["browser.patience_seconds", 1, 600],
  ["browser.idle_seconds", 1, 86_400],
  ["browser.max_contexts", 1, 1_000],
  ["browser.max_tabs", 1, 1_000],
  ["browser.max_download_bytes", 1, 100_000_000_000],
  ["llm.max_tokens", 1, 10_000_000_000],
  ["llm.max_input_tokens", 0, 10_000_000_000],
  ["llm.temperature", 0, 2, 0.01],
  ["llm.concurrency", 1, 10_000],
  ["llm.first_delta_timeout", 0.001, 86_400, 0.0005],
  ["llm.idle_timeout", 0.001, 86_400, 0.0005],
  ["llm.max_retries", 0, 20],
  ["limits.steps", 1, 10_000],
  ["limits.tokens", 1, 10_000_000_000],
  ["limits.usd", 0, 1_000_000],
  ["limits.wall_seconds", 0.001, 31_536_000, 0.0005],
  ["limits.calls_per_turn", 1, 1_000],
  ["limits.parallel_calls", 1, 1_000],
  ["limits.result_characters", 100, 10_000_000],
  ["limits.principal.requests_per_minute", 1, 1_000_000],
  ["limits.principal.runs_at_once", 1, 1_000_000],
  ["limits.principal.tokens_per_day", 0, 1_000_000_000_000],
  ["limits.principal.usd_per_day", 0, 1_000_000_000],
  ["limits.answer_seconds", 0.001, 31_536_000, 0.0005],
  ["memory.entries", 1, 10_000],
  ["memory.entry_characters", 20, 10_000],
  ["memory.recall_entries", 0, 100],
  ["memory.recall_tokens", 0, 20_000],
  ["memory.similarity", 0, 1, 0.01],
  ["browser.geolocation.latitude", -90, 90],
  ["browser.geolocation.longitude", -180, 180],
  ["browser.geolocation.accuracy", 0, 1_000_000],
  ["agents.swe.port", ...port],
  ["agents.other.grpc_port", ...port],
];
test.each(bounds)("%s is from %p to %p", (key, least, most, step = 1) => {
  const values = [least - step, least, most, most + step];
  expect(values.map((value) => takes(key, value))).toEqual([false, true, true, false]);
});

test.each<[key: string, right: readonly unknown[], wrong: readonly unknown[]]>([
  ["server.token", ["12345678"], ["1234567"]],
  [
    "server.cors",
    [["https://a.example", "http://127.0.0.1:3000"]],
    [["https://a.example/"], ["https://a.example/x"], ["ftp://a"], ["*"]],
  ],
  ["engine.schema", ["a", "_a9", "a".repeat(48)], ["", "9a", "A", "a-b", "a".repeat(49), 'a"b']],
  ["engine.secret_key", ["k".repeat(32)], ["k".repeat(31)]],
  ["engine.url", ["postgres://h/d", "postgresql://h/d"], ["http://h/d", "postgresx://h", "xpostgres://h"]],
  [
    "auth.jwt.jwks",
    ["https://id.example/k", "http://127.0.0.1/k", "http://localhost/k"],
    ["http://id.example/k", "http://x.example/?https:", "file:///k", "keys.json"],
  ],
  ["auth.oidc.issuer", ["https://id.example"], ["http://id.example"]],
  ["a2a.dedupe", ["off", "30m", "7d"], ["0", "0m", "1w", "1h30m", "xoff", "1234567s"]],
  ["retention.runs", ["never", "0", "12h"], ["off", "00", "1w", "x0", "1 d"]],
  ["retention.every", ["4s"], ["0", "never"]],
  ["artifacts.prefix", ["a", "a/b.c-d"], ["/a", "a/", "a//b", "a b", ""]],
  ["telemetry.otlp_headers", ["a=b", "a=b,c=d"], ["a", "=b", "a=b,c", "a=b,,c=d"]],
  ["sandbox.memory_limit", ["512m", "1.5GB", "32m", "33554432"], ["m", "1.m", "1t", "x1m", "1mx", "0", "512", "31m"]],
  ["search.country", ["us", "DE"], ["usa", "1a"]],
  ["search.engine", ["google", "DuckDuckGo"], ["altavista"]],
  [
    "egress.allow",
    [["intranet.example", "127.0.0.1:8080", "[::1]:80"]],
    [["*.example"], ["http://a"], ["a/b"], ["a..b"], ["a:123456"]],
  ],
  ["egress.only", [["*.example.com", "Example.com"]], [["*"], ["a.*.b"], ["*.example.com/x"]]],
  ["llm.base_url", ["http://h/v1", "HTTPS://h"], ["h/v1", "http://{x}/v1", "http://a b", "xhttp://h", "http://["]],
  ["engine.other_secret_keys", [["k".repeat(32)]], [["k".repeat(31)]]],
  ["a2a.required_extensions", [["urn:x:1", "https://x.example/e"]], [["x"], [""]]],
  ["memory.principals", [["local", "*", "a@b.example"]], [["a b"], [""], ["x".repeat(201)], ["a\n"]]],
  [
    "python.packages",
    [["pandas", "numpy>=2,<3", "a.b[c,d]==1.*"]],
    [["--index-url=http://x"], ["-r"], ["./a"], ["a @ http://x"], ["a b"], ["a;b"], ["a\n"], ["git+https://x"]],
  ],
  ["egress.proxy", ["http://proxy.example:3128"], ["proxy.example", "socks5://proxy.example", ""]],
  ["browser.user_data_dir", ["/home/us/profile"], ["profile", "./profile", "~/profile"]],
  ["browser.profile", ["work-1"], ["../work", "a/b", "A", ""]],
  ["browser.trusted_hosts", [["*.example.com", "a.example:8443"]], [["*"], ["http://a.example"], [""]]],
  ["browser.timezone", ["Europe/Berlin"], ["Berlin", ""]],
  ["git.code.host", ["git.example", "127.0.0.1:3000"], ["http://git.example", "git.example/x", "a b"]],
  ["git.code.username", ["x-access-token"], ["a:b", "a\n", ""]],
  ["git.code.repositories", [["owner/name", "group/sub/*"]], [["name"], ["*/name"], ["own*/name"], ["/name"], ["a/"]]],
  ["git.code.author", ["Ann <ann@a.example>"], ["Ann", "Ann <ann>", "An\nn <ann@a.example>", "<a@b> <ann@a.example>"]],
  ["agents.swe.auth.header", ["X-Key"], ["X Key", "X:Key", "X-Key\n"]],
  ["agents.swe.instructions", ["i".repeat(100_000)], ["i".repeat(100_001), ""]],
])("%s takes what it can be and nothing else", (key, right, wrong) => {
  expect(right.filter((value) => !takes(key, value))).toEqual([]);
  expect(wrong.filter((value) => takes(key, value))).toEqual([]);
});
