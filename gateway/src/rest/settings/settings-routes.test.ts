import { expect, test } from "bun:test";
import { chmod, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { callerNamed, type Identify } from "manyhands/internal/core/caller";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { startGateway, type TestGateway } from "../../testing/gateway.ts";

type Json = { readonly [key: string]: unknown };

function client(gateway: TestGateway, headers: Record<string, string> = {}) {
  return async (method: string, path: string, body?: object) => {
    const response = await fetch(`${gateway.url}/settings${path}`, {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: (text === "" ? {} : JSON.parse(text)) as Json };
  };
}

const file = (gateway: TestGateway) => readFile(join(gateway.home, "manyhands.toml"), "utf8");

test("model, endpoint and key are written to the file, whose rest stays, and the key never comes back", async () => {
  const toml =
    '# Ours.\n[llm]\nmodel = "old" # mine\nbase_url = "http://127.0.0.1:9/v1"\nprice = { input_per_million = 1, output_per_million = 2 }\n';
  await using gateway = await startGateway({ toml });
  const ask = client(gateway);
  const before = await ask("GET", "/model");
  expect(before.body).toMatchObject({
    model: { value: "old", source: expect.stringContaining("line 3") },
    restartNeeded: false,
  });
  const saved = await ask("POST", "/model", { model: "new", apiKey: "sk-very-secret" });
  expect(saved.status).toBe(200);
  expect(saved.body).toMatchObject({ model: { value: "new" }, apiKey: {}, restartNeeded: true });
  const text = await file(gateway);
  expect(text).toBe(
    '# Ours.\n[llm]\nmodel = "new" # mine\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "sk-very-secret"\n',
  );
  expect((await stat(join(gateway.home, "manyhands.toml"))).mode & 0o777).toBe(0o600);
  for (const path of ["", "/model"]) expect((await ask("GET", path)).text).not.toContain("sk-very-secret");
  expect((await ask("POST", "/model", { model: "" })).status).toBe(400);
  expect(await file(gateway)).toBe(text);
});

test("a stored key goes only to the server it was stored for, in a test and when saving", async () => {
  await using gateway = await startGateway({
    toml: '[llm]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "sk-very-secret"\n',
  });
  await using model = disposable(await startScriptedModel([{ text: "hello there" }]));
  const ask = client(gateway);
  for (const path of ["/model/test", "/model"]) {
    const refused = await ask("POST", path, { baseUrl: model.url });
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining("the stored key is for")]);
  }
  expect(model.requests).toEqual([]);
  expect((await ask("POST", "/model/test", { baseUrl: model.url, apiKey: null })).body).toMatchObject({ ok: true });
  expect(JSON.stringify(model.requests)).not.toContain("sk-very-secret");
});

test("a test sends a real request and says what it showed, or the very error, without the key", async () => {
  await using gateway = await startGateway();
  await using model = disposable(
    await startScriptedModel([
      { calls: [{ name: "report_ready", args: { word: "ready" } }] },
      { text: "I am ready" },
      { status: 401, error: { message: "Incorrect API key: sk-very-secret" } },
    ]),
  );
  const ask = client(gateway);
  const trial = async (name: string) =>
    (await ask("POST", "/model/test", { model: name, baseUrl: model.url, apiKey: "sk-very-secret" })).body;
  expect(await trial("scripted")).toMatchObject({ ok: true, found: "yes", streaming: true, tools: "native" });
  expect(await trial("other")).toMatchObject({ ok: true, found: "no", tools: "no", totalMs: expect.any(Number) });
  const refused = await trial("scripted");
  expect(refused).toMatchObject({ ok: false, error: expect.stringContaining("Incorrect API key: [key]") });
  const nobody = await ask("POST", "/model/test", { model: "m", baseUrl: "http://127.0.0.1:9/v1" });
  expect(nobody.body).toMatchObject({ ok: false, found: "unknown", error: expect.any(String) });
});

test("what the environment overrides is refused with the variable's name", async () => {
  await using gateway = await startGateway({
    env: { OPENAI_API_KEY: "sk-of-env", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" },
  });
  const ask = client(gateway);
  expect((await ask("GET", "/model")).body).toMatchObject({ apiKey: { source: "OPENAI_API_KEY" } });
  const refused = await ask("POST", "/model", { model: "m", apiKey: "sk-other" });
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining("OPENAI_API_KEY is set")]);
  expect((await ask("POST", "/model", { model: "m" })).status).toBe(200);
  expect(await file(gateway)).toBe('[llm]\nmodel = "m"\n');
});

test("the sandbox tier is tried and written; none that would leave commands unconfined or fail is", async () => {
  await using gateway = await startGateway({ toml: '# Ours.\n[sandbox]\nallow_domains = ["example.org"] # web\n' });
  await chmod(gateway.home, 0o711);
  const ask = client(gateway);
  expect((await ask("GET", "/sandbox")).body).toMatchObject({
    tier: { value: "auto", source: "default" },
    allowDomains: ["example.org"],
    restartNeeded: false,
  });
  const off = await ask("POST", "/sandbox", { tier: "off" });
  expect([off.status, off.body.detail]).toEqual([403, expect.stringContaining('tier = "off" in [sandbox]')]);
  expect((await ask("POST", "/sandbox", { tier: "docker" })).status).toBe(400);
  for (const tier of ["srt", "bwrap", "landlock"]) {
    const before = await file(gateway);
    const { works, tier: found } = (await ask("POST", "/sandbox/test", { tier })).body;
    expect([works, found]).toEqual(works ? [true, tier] : [false, "none"]);
    expect(await file(gateway)).toBe(before);
    const saved = await ask("POST", "/sandbox", { tier });
    expect(saved.status).toBe(works ? 200 : 409);
    const line = `# Ours.\n[sandbox]\nallow_domains = ["example.org"] # web\ntier = "${tier}"\n`;
    expect(await file(gateway)).toBe(works ? line : before);
    if (works) expect(saved.body).toMatchObject({ tier: { value: tier }, restartNeeded: true });
    else expect(saved.body.detail).toContain(`${tier}: `);
  }
  expect((await ask("POST", "/sandbox", { tier: "auto" })).body).toMatchObject({
    tier: { value: "auto", source: expect.stringContaining("line 4") },
    restartNeeded: false,
  });
});

test("a sandbox tier that a variable sets is not written where it would have no effect", async () => {
  await using gateway = await startGateway({ env: { SANDBOX: "auto" } });
  const refused = await client(gateway)("POST", "/sandbox", { tier: "bwrap" });
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining("SANDBOX is set")]);
});

test("a token's secret is shown once, and revoking ends it", async () => {
  await using gateway = await startGateway();
  const ask = client(gateway);
  const made = await ask("POST", "/tokens", { name: "ci", principal: "ann", days: 7 });
  expect(made.body).toEqual({ name: "ci", secret: expect.stringMatching(/^mh_/) });
  const listed = await ask("GET", "/tokens");
  expect(listed.body).toMatchObject({
    count: false,
    tokens: [{ name: "ci", principal: "ann", scopes: ["read", "run"] }],
  });
  expect(listed.text).not.toContain(String(made.body.secret));
  expect((await ask("POST", "/tokens", { name: "ci" })).status).toBe(409);
  expect((await ask("POST", "/tokens", { name: "me", principal: "local" })).status).toBe(400);
  expect((await ask("DELETE", "/tokens/ci")).status).toBe(204);
  expect((await ask("GET", "/tokens")).body.tokens).toEqual([]);
});

const hostile = resolve(import.meta.dir, "../../../../test/mcp/hostile.fixture.ts");

test("an MCP server is added, tried, approved as it was seen, disabled and removed", async () => {
  await using gateway = await startGateway();
  await chmod(gateway.home, 0o711);
  const ask = client(gateway);
  const entry = { command: process.execPath, args: [hostile, "plain"], env: { TOKEN: "very-secret" } };
  const added = await ask("POST", "/mcp-servers", { name: "h", entry });
  expect(added.body).toMatchObject({ servers: [{ name: "h", kind: "program", enabled: true, sandboxed: true }] });
  expect(added.text).not.toContain("very-secret");
  expect((await ask("POST", "/mcp-servers", { name: "h", entry })).status).toBe(409);
  const tried = await ask("POST", "/mcp-servers/h/test");
  const seen = String(tried.body.seen);
  expect(tried.body).toMatchObject({ state: "ready", tools: expect.any(Array) });
  expect((await ask("POST", "/mcp-servers/h/approve", { seen: "0".repeat(64) })).status).toBe(409);
  expect((await ask("POST", "/mcp-servers/h/approve", { seen })).body).toEqual({ tools: 16 });
  expect((await ask("POST", "/mcp-servers/h/enable", { enabled: false })).body).toMatchObject({
    servers: [{ enabled: false }],
  });
  expect((await ask("DELETE", "/mcp-servers/h")).status).toBe(204);
  expect((await ask("DELETE", "/mcp-servers/h")).status).toBe(404);
  expect((await ask("POST", "/mcp-servers/h/test")).status).toBe(404);
});

test("a server that would get at this machine is not added over the API, and one that fails says why", async () => {
  await using gateway = await startGateway();
  await chmod(gateway.home, 0o711);
  const ask = client(gateway);
  const secret = `\${OPENAI_API_KEY}`;
  for (const entry of [
    { command: "true", trust: "unconfined" },
    { command: "true", read: ["/etc"] },
    { command: "true", write: ["/tmp"] },
    { command: "true", env: { KEY: secret } },
    { url: "https://x.example/mcp", headers: { A: secret } },
  ])
    expect((await ask("POST", "/mcp-servers", { name: "x", entry })).status).toBe(403);
  expect((await ask("POST", "/mcp-servers", { name: "x", entry: { command: "true", url: "http://x" } })).status).toBe(
    400,
  );
  expect((await ask("GET", "/mcp-servers")).body).toEqual({ servers: [] });
  await ask("POST", "/mcp-servers", { name: "dead", entry: { command: process.execPath, args: [hostile, "exit"] } });
  expect((await ask("POST", "/mcp-servers/dead/test")).body).toMatchObject({
    state: "failed",
    error: expect.stringContaining("exit code 3"),
  });
});

test("a composed flow is checked, saved as a table, there at once, and removed", async () => {
  await using gateway = await startGateway({ toml: "# Ours.\n" });
  const ask = client(gateway);
  const steps = [{ agent: "echo" }, { agent: "nobody", instruction: "Then {previous}" }];
  const report = { flow: "sequential", title: "Report", options: { steps } };
  expect((await ask("POST", "/flows/report/check", report)).body).toEqual({ unknownAgents: ["echo", "nobody"] });
  const bad = async (name: string, flow: object) => (await ask("POST", `/flows/${name}/check`, flow)).body.problem;
  expect(await bad("Re port", report)).toContain("lower-case words");
  expect(await bad("report", { flow: "sequential" })).toContain("name the agents");
  expect(await bad("report", { flow: "loop", agents: ["a"], options: { maxIterations: 99 } })).toContain(
    "maxIterations",
  );
  expect(await bad("report", { flow: "nothing" })).toContain("There are: planning");
  expect(await bad("planning", report)).toContain("a flow of this system");
  expect((await ask("POST", "/flows/report", { flow: "nothing" })).status).toBe(400);
  expect((await ask("POST", "/flows/report", report)).status).toBe(200);
  expect(await file(gateway)).toStartWith('# Ours.\n\n[flows.report]\nflow = "sequential"\ntitle = "Report"\n');
  const started = await fetch(`${gateway.url}/flows/report`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Prefer: "wait=10" },
    body: JSON.stringify({ input: "go", options: { onFailure: "continue" } }),
  });
  const { id, status } = (await started.json()) as { id: string; status: string };
  expect(status).toBe("completed");
  // What is set is recorded with the run, so that it goes on as it began when the settings change.
  expect((await gateway.engine.get(id))?.input).toMatchObject({ flow: { options: { steps, onFailure: "continue" } } });
  expect((await ask("POST", "/flows/report", { flow: "loop", agents: ["a"] })).status).toBe(409);
  expect((await ask("POST", "/flows/report", { ...report, title: "Other" })).status).toBe(200);
  expect((await ask("GET", "/flows")).body).toMatchObject({ flows: [{ name: "report", title: "Other" }] });
  expect((await ask("DELETE", "/flows/planning")).status).toBe(409);
  expect((await ask("DELETE", "/flows/report")).status).toBe(204);
  expect((await file(gateway)).trim()).toBe("# Ours.");
  expect(await (await fetch(`${gateway.url}/flows`)).text()).not.toContain('"report"');
});

test("settings are for the operator: not for another principal, a run, or a page of another site", async () => {
  const identify: Identify = ({ headers }) => {
    const who = headers.get("X-Who") ?? "";
    if (who === "operator") return callerNamed("local");
    return who === "run" ? { ...callerNamed("local"), relayed: true } : callerNamed(who, ["read", "run"]);
  };
  const page = "https://app.example";
  await using gateway = await startGateway({ app: { identify, cors: [page] } });
  const statusFor = async (headers: Record<string, string>) => {
    const ask = client(gateway, headers);
    const found = [await ask("GET", "/model"), await ask("POST", "/model", { model: "m", apiKey: "k" })];
    return found.map(({ status }) => status);
  };
  for (const headers of [
    { "X-Who": "ann" },
    { "X-Who": "run" },
    { "X-Who": "operator", Origin: page },
    { "X-Who": "operator", Origin: page, "Sec-Fetch-Site": "cross-site" },
  ])
    expect(await statusFor(headers)).toEqual([403, 403]);
  expect(await Bun.file(join(gateway.home, "manyhands.toml")).exists()).toBe(false);
  expect(await statusFor({ "X-Who": "operator" })).toEqual([200, 200]);
});

function disposable<Server extends { close(): Promise<void> }>(server: Server): Server & AsyncDisposable {
  return { ...server, [Symbol.asyncDispose]: () => server.close() };
}
