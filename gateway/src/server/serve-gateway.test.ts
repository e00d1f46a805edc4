import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentCard } from "@a2a-js/sdk";
import { principalHeader } from "manyhands/internal/core/caller";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { freePort } from "manyhands/internal/http/free-port";
import { homeMark } from "manyhands/internal/http/home-mark";
import { workspaceKey } from "manyhands/internal/machine/workspace/open-workspace";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { type ServerProcess, startServer } from "../supervisor/server-process.ts";
import { serveCard } from "../testing/card-server.ts";

const token = "token-of-the-settings";
const publicUrl = "https://team.example";
const agentsUrl = "https://manus.example";
const page = "https://app.example";
const grpcPort = freePort("127.0.0.1");
const settings = (agent: string) => `
[server]
token = "${token}"
card = "strict"
cors = ["${page}"]
[a2a]
required_extensions = ["urn:needed:1"]
[gateway]
grpc_port = ${grpcPort}
patience_seconds = 1
[limits.principal]
runs_at_once = 7
requests_per_minute = 1
[memory]
principals = ["local"]
[retention]
runs = "9d"
[flows]
model = "of-flows"
[flows.report]
flow = "sequential"
agents = ["manus"]
[agents]
browser.enabled = false
swe.enabled = false
data-analysis.enabled = false
manus.url = "${agent}"
manus.public_url = "${agentsUrl}"
[llm]
model = "of-agents"
api_key = "none"
[sandbox]
tier = "landlock"
cpu_limit = 1
[schedules.nightly]
cron = "0 3 1 1 *"
start = "report"
task = "Sum up."
[triggers.pull]
type = "github"
secret = "secret-of-github"
start = "report"
task = "Look."
[notify.ops]
type = "webhook"
url = "https://hook.example/x"
`;

type Sent = { readonly path: string; readonly token: string | null; readonly principal: string | null };

const home = await mkdtemp(join(tmpdir(), "manyhands-gateway-"));
const state = join(home, "state");
const log = join(home, "gateway.log");
const agent = serveCard("Manus");
const sent: Sent[] = [];
const ids = { own: crypto.randomUUID(), left: crypto.randomUUID() };
let gateway: ServerProcess;
let url: string;
/** The token of somebody whose limits count. */
let secret: string;

/** What a former gateway left in the store: a run of an agent's own, and one that never began. */
async function leaveRuns(): Promise<void> {
  await mkdir(state);
  const engine = createEmbeddedEngine({ path: join(state, "runs.db") });
  const parts = [{ type: "text", text: "Paint it." }];
  const file = { type: "file", sha256: "0".repeat(64), name: "a.png", mediaType: "image/png", size: 1 };
  const made = { type: "artifact-added", artifactId: "a", name: "a.png", parts: [file] };
  const about = (kind: string, id: string, principal: string) => ({
    ...{ id, kind, principal, contextId: "c" },
    input: { message: { messageId: id, parts }, hops: 0 },
    events: [{ type: "message-received", messageId: id, parts }, made],
  });
  await engine.start(about("manus", ids.own, "ann"));
  await engine.start(about("report", ids.left, "local"));
  await engine.close();
  const files = join(state, "workspaces", workspaceKey("manus/ann", "c"), "files");
  await mkdir(files, { recursive: true });
  await writeFile(join(files, "a.txt"), "a");
}

beforeAll(async () => {
  // As its card has it, it is reached from outside; from here it is where the settings say.
  const card = JSON.parse(JSON.stringify(AgentCard.toJSON(agent.card)).replaceAll(agent.url, agentsUrl));
  agent.answer = async (request) => {
    const { headers } = request;
    const { pathname } = new URL(request.url);
    sent.push({ path: pathname, token: headers.get("Authorization"), principal: headers.get(principalHeader) });
    if (pathname.startsWith("/live/")) return new Response('data: {"page":"none","held":false}\n\n');
    if (pathname.startsWith("/.well-known/")) return Response.json(card);
    const { id } = (await request.json()) as { readonly id: number };
    return Response.json({ jsonrpc: "2.0", id, error: { code: -32001, message: "There is no such task." } });
  };
  await leaveRuns();
  await writeFile(join(home, "manyhands.toml"), settings(agent.url));
  gateway = startServer({
    name: "gateway",
    entry: join(import.meta.dir, "main.ts"),
    args: [],
    cwd: home,
    env: { ...bareEnvironment(), MANYHANDS_HOME: state, PORT: "0", PUBLIC_URL: publicUrl },
    logPath: log,
  });
  url = await gateway.ready({ timeoutMs: 60_000 });
  ({ secret } = (await ask("/settings/tokens", { name: "ann" })).body);
});
afterAll(async () => {
  await gateway.stop(0);
  await agent[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

const as = (bearer: string) => ({ headers: { Authorization: `Bearer ${bearer}` } });

async function ask(path: string, json?: unknown, { headers = {}, method = json ? "POST" : "GET" } = {}) {
  const response = await fetch(`${url}${path}`, {
    ...{ method, ...(json !== undefined && { body: JSON.stringify(json) }) },
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}`, ...headers },
  });
  const text = await response.text();
  const body = text.startsWith("{") ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, text, body };
}

type Line = { readonly msg: string; readonly [field: string]: unknown };

/** The lines of its log. */
async function logged(): Promise<readonly Line[]> {
  const lines = (await Bun.file(log).text()).split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line));
}

/** A line of its log, which comes soon. */
async function line(text: string): Promise<Line> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await Bun.sleep(10)) {
    const found = (await logged()).find((one) => JSON.stringify(one).includes(text));
    if (found !== undefined) return found;
  }
  throw new Error(`It never logged: ${text}`);
}

test("a gateway says what it is, where, and what its settings come to", async () => {
  expect((await ask("/healthz")).body).toMatchObject({
    agent: "gateway",
    model: { name: "of-flows" },
    home: homeMark(state),
  });
  expect(await line("listening")).toMatchObject({ url: `${url}/`, model: "of-flows" });
  expect((await line("Retention: ")).msg).toContain("ended runs are deleted after 9d");
  await line("cpu_limit is not used");
  expect((await ask("/settings")).body).toMatchObject({
    ...{ file: join(home, "manyhands.toml"), home: state, engine: expect.stringContaining(state) },
    ...{ sandbox: "landlock", notes: [expect.stringContaining("cpu_limit")] },
  });
  expect((await ask("/openapi.json")).body.servers).toEqual([{ url: publicUrl }]);
  expect((await ask("/memory")).body).toEqual({ on: true, entries: [] });
  expect((await ask("/schedules")).body.schedules).toMatchObject([{ name: "nightly", start: "report" }]);
  expect((await ask("/triggers")).body.triggers).toMatchObject([{ name: "pull", url: `${publicUrl}/hooks/pull` }]);
  expect((await ask("/notify")).body.targets).toMatchObject([{ name: "ops" }]);
  expect((await ask("/browser/profiles")).body).toEqual({ profiles: [] });
  expect((await ask("/flows")).body.flows).toContainEqual(expect.objectContaining({ name: "report" }));
  const read = await ask("/flows", undefined, { headers: { Origin: page } });
  expect(read.headers.get("Access-Control-Allow-Origin")).toBe(page);
  expect((await ask("/doorbell/r%2F1", {})).status).toBe(401);
  expect((await ask("/flows", undefined, { headers: { Host: "evil.example" } })).status).toBe(403);
});

test("agents are those of its settings and those that are registered, under names that no flow has", async () => {
  const named = async (name: string) => (await ask("/agents", { url: agent.url, name })).body;
  expect((await ask("/agents")).body.agents).toMatchObject([{ name: "manus", source: "configured", health: "up" }]);
  expect(await named("report")).toMatchObject({ code: "conflict", detail: expect.stringContaining("name of a flow") });
  expect(await named("guest")).toMatchObject({ name: "guest", source: "registered" });
  expect(await Bun.file(join(state, "agents.json")).text()).toContain("guest");
  expect((await ask("/agents/guest", undefined, { method: "DELETE" })).status).toBe(204);
  expect(new Set(sent.map((one) => one.token))).toContain(`Bearer ${token}`);
});

test("a token that is made there counts at once, with its limits; who may not call is refused and logged", async () => {
  const start = () => ask("/flows/report", { input: "Go." }, as(secret));
  expect([(await start()).status, (await start()).status]).toEqual([202, 429]);
  const use = { principal: "ann", requests: { used: 1, limit: 1 }, runs: { limit: 7 } };
  expect((await ask("/usage", undefined, as(secret))).body).toMatchObject(use);
  expect((await ask("/settings/tokens")).body).toMatchObject({ tokens: [{ name: "ann" }], count: true });
  expect((await ask("/runs", undefined, as("wrong-secret"))).status).toBe(401);
  const reason = "unknown or expired credentials";
  expect(await line('"path":"/runs"')).toMatchObject({ msg: "a request was refused", status: 401, reason });
  expect((await logged()).filter((one) => one.path === "/runs" || one.reason === reason)).toHaveLength(1);
  expect(JSON.stringify(await logged())).not.toContain("wrong-secret");
});

test("its cards are signed, name every way to it, and say what it wants of callers", async () => {
  const { body: flow } = await ask("/a2a/report/.well-known/agent-card.json");
  expect(flow).not.toHaveProperty("url");
  expect(flow.signatures.length).toBeGreaterThan(0);
  const ways = flow.supportedInterfaces as readonly { url: string; protocolBinding: string }[];
  expect(ways.find(({ protocolBinding }) => protocolBinding === "JSONRPC")?.url).toBe(`${publicUrl}/a2a/report`);
  expect(ways.find(({ protocolBinding }) => protocolBinding === "GRPC")?.url).toContain(`:${grpcPort}`);
  expect(flow.capabilities).toMatchObject({ pushNotifications: true });
  const uris = JSON.stringify(flow.capabilities.extensions);
  expect(uris).toContain("urn:needed:1");
  expect(uris).toContain("of-flows");
  expect(uris).toContain("urn:manyhands:flow:1");
  const { text: choosing } = await ask("/a2a/conditional/.well-known/agent-card.json");
  expect([...choosing.matchAll(/"agent":"(\w[\w-]*)"/g)].map(([, name]) => name)).toEqual(["manus", "manus", "manus"]);
  expect(JSON.stringify(flow.securityRequirements)).toContain("bearer");
  expect((await ask("/.well-known/jwks.json")).body.keys.length).toBeGreaterThan(0);
  const { text: other } = await ask("/a2a/manus/.well-known/agent-card.json");
  expect(other).not.toContain("of-flows");
});

test("a run of a former gateway is carried out, and what an agent has of one is had from that agent", async () => {
  await ask(`/runs/${ids.left}/events`);
  expect((await ask(`/runs/${ids.left}`)).body).toMatchObject({ name: "report", status: "failed" });
  const { body: own } = await ask(`/runs/${ids.own}`, undefined, as(secret));
  expect(own).toMatchObject({ name: "manus", status: "queued", input: "Paint it." });
  expect(own.files[0].url).toStartWith(`${publicUrl}/artifacts/`);
  const { body: listed } = await ask(`/runs/${ids.own}/files`, undefined, as(secret));
  expect(listed.files).toMatchObject([{ agent: "manus", path: "a.txt" }]);
  sent.length = 0;
  expect((await ask(`/runs/${ids.own}/live`, undefined, as(secret))).text).toContain('"page":"none"');
  expect((await ask(`/runs/${ids.own}/cancel`, {}, as(secret))).body.status).toBe("canceled");
  const shown = { token: `Bearer ${token}`, principal: "ann" };
  expect(sent).toEqual([
    { path: `/live/${ids.own}`, ...shown },
    { path: "/", ...shown },
  ]);
  const whole = { method: "DELETE", ...as(secret) };
  expect((await ask("/conversations/c", undefined, whole)).body.deleted).toEqual([ids.own]);
  expect((await ask(`/runs/${ids.left}`)).status).toBe(200);
});

test("a run has its files at the public address, is shared under it, and takes its files along when it is deleted", async () => {
  const files = [{ name: "a.txt", bytes: Buffer.from("of this test").toString("base64") }];
  const started = await ask("/flows/manus", { input: { text: "Go.", files } }, { headers: { Prefer: "wait=60" } });
  expect([started.status, started.body.status]).toEqual([200, "failed"]);
  const { id } = started.body;
  const stored = () => readdir(join(state, "artifacts"), { recursive: true });
  const hash = new Bun.CryptoHasher("sha256").update("of this test").digest("hex");
  expect((await ask(`/artifacts/${hash}/a.txt`)).text).toBe("of this test");
  expect((await ask(`/runs/${id}/shares`, {})).body.url).toStartWith(`${publicUrl}/#/shared/mhs_`);
  expect(await Bun.file(join(state, "shares.json")).text()).toContain(id);
  const { text: metrics } = await ask("/metrics");
  expect(metrics).toContain('manyhands_agent_up{agent="gateway",name="manus"} 1');
  expect(metrics).toMatch(/^manyhands_executions_total\{.*\} [1-9]/m);
  expect(JSON.stringify(await stored())).toContain(hash.slice(2, 20));
  expect((await ask(`/runs/${id}`, undefined, { method: "DELETE" })).body.deleted).toEqual([id]);
  expect(JSON.stringify(await stored())).not.toContain(hash.slice(2, 20));
  await line("runs were deleted");
});

test("a flow that is composed later is carried out too", async () => {
  expect((await ask("/settings/flows/later", { flow: "sequential", agents: ["manus"] })).status).toBe(200);
  const { body } = await ask("/flows/later", { input: "Go." }, { headers: { Prefer: "wait=60" } });
  expect(body).toMatchObject({ name: "later", status: "failed" });
});

/** How its gRPC answers a call with these credentials, as a number of its statuses. */
async function grpcStatus(authorization: Record<string, string>): Promise<number> {
  const session = connect(`http://127.0.0.1:${grpcPort}`);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  session.on("error", reject);
  const path = "/lf.a2a.v1.A2AService/ListTasks";
  const head = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
  const call = session.request({ ...head, ...authorization });
  const told = (headers: Record<string, unknown>) => {
    if (headers["grpc-status"] !== undefined) resolve(Number(headers["grpc-status"]));
  };
  call.on("response", told).on("trailers", told).on("error", reject).resume();
  call.end(new Uint8Array(5));
  return promise.finally(() => session.destroy());
}

test("its gRPC asks who calls, as everything else does", async () => {
  expect(await grpcStatus({})).toBe(16);
  expect(await grpcStatus({ authorization: "Bearer wrong-secret" })).toBe(16);
  expect(await grpcStatus({ authorization: `Bearer ${token}` })).not.toBe(16);
});

test("it ends when it is asked to, with nothing left open", async () => {
  await gateway.stop(30_000);
  expect(await gateway.exited).toBe(0);
  expect((await logged()).filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
