import { afterAll, expect, spyOn, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { AgentCard } from "@a2a-js/sdk";
import type { AgentProfile } from "../../core/agent.ts";
import { callerNamed } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import * as streams from "../../http/sse.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import type { Deletions } from "../../runs/deletions.ts";
import { createQuotas } from "../../runs/quotas.ts";
import { problemOfSignature } from "../signing/card-signature.ts";
import type { HomeKeys } from "../signing/home-keys.ts";
import type { PublicKey } from "../signing/public-key.ts";
import { type AgentAppDeps, agentApp } from "./agent-app.ts";
import * as handlers from "./request-handler.ts";

const engine = createEmbeddedEngine({ path: ":memory:" });
afterAll(() => engine.close({ graceMs: 0 }));

const definition: AgentProfile = {
  name: "swe",
  title: "Software engineer",
  description: "Writes code.",
  version: "1.2.3",
  skills: [],
};
const site = "https://console.example";

/** An agent's app, what it reported, and how it answers a request. */
function appOf(over: Partial<AgentAppDeps> = {}) {
  const reported: unknown[] = [];
  const app = agentApp({
    definition,
    facts: { publicUrl: "http://127.0.0.1:1" },
    engine,
    artifacts: createArtifactStore("/nonexistent"),
    identify: async ({ headers }) => {
      const name = headers.get("X-User") ?? "ann";
      if (name === "bug") throw new TypeError("a secret");
      if (name === "nobody") throw new AppError("unauthorized", "Who are you?");
      return callerNamed(name);
    },
    report: (bug) => void reported.push(bug),
    ...over,
  });
  const ask = async (path: string, init: RequestInit = {}, headers: Record<string, string> = {}) =>
    app.fetch(
      new Request(`http://127.0.0.1:1${path}`, {
        ...init,
        headers: { Host: "127.0.0.1:1", "A2A-Version": "1.0", "Content-Type": "application/json", ...headers },
      }),
    );
  const send = (messageId: string, headers: Record<string, string> = {}) => {
    const message = { messageId, role: "ROLE_USER", parts: [{ text: "Hi" }] };
    const body = JSON.stringify({ message, configuration: { returnImmediately: true } });
    return ask("/message:send", { method: "POST", body }, headers);
  };
  const statusOf = async (path: string, init?: RequestInit, headers?: Record<string, string>) =>
    (await ask(path, init, headers)).status;
  return { ask, send, statusOf, reported };
}
const taskIn = async (answer: Response) => ((await answer.json()) as { task: { id: string } }).task;

test("a message is a task of this agent, of its own kind if it has one, and the same one when it is sent again", async () => {
  const { send, ask } = appOf();
  const [first, again] = [await taskIn(await send("m1")), await taskIn(await send("m1"))];
  expect(again.id).toBe(first.id);
  expect(await engine.get(first.id)).toMatchObject({ kind: "swe", principal: "ann" });
  expect((await ask(`/tasks/${first.id}`, {}, { "X-User": "bob" })).status).toBe(404);
  const flow = appOf({ kind: "flow/swe", dedupeMs: 0 });
  const [one, other] = [await taskIn(await flow.send("m1")), await taskIn(await flow.send("m1"))];
  expect(other.id).not.toBe(one.id);
  expect((await engine.get(one.id))?.kind).toBe("flow/swe");
});

test("what may start a task, what principals may use and how tasks are deleted is up to the server", async () => {
  const admit = () => {
    throw new AppError("invalid_input", "Name an agent.");
  };
  expect(await (await appOf({ admit }).send("m2")).text()).toContain("Name an agent.");
  const limited = appOf({ quotas: createQuotas({ everybody: { requestsPerMinute: 1 } }) });
  expect([(await limited.send("m3")).status, (await limited.send("m4")).status]).toEqual([200, 429]);
  const deleted: string[] = [];
  const deletions = {
    run: async ({ id }: { id: string }) => ({ deleted: [deleted.push(id)] }),
  } as unknown as Deletions;
  const { send, ask } = appOf({ deletions });
  const { id } = await taskIn(await send("m5"));
  expect([(await ask(`/tasks/${id}`, { method: "DELETE" })).status, deleted]).toEqual([200, [id]]);
});

test("a bug is reported and counted, a refusal is told to the log, and answers are counted by their route", async () => {
  const refused: object[] = [];
  const { ask, statusOf, reported } = appOf({ refused: (request) => void refused.push(request) });
  const broken = await ask("/tasks", {}, { "X-User": "bug" });
  expect([broken.status, (await broken.text()).includes("secret")]).toEqual([500, false]);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "t" } });
  expect(await (await ask("/", { method: "POST", body }, { "X-User": "bug" })).text()).not.toContain("secret");
  expect(reported).toEqual([new TypeError("a secret"), new TypeError("a secret")]);
  expect(await statusOf("/tasks/t", {}, { "X-User": "nobody" })).toBe(401);
  expect(refused).toEqual([{ method: "GET", path: "/tasks/t", status: 401 }]);
  expect(await statusOf("/healthz")).toBe(200);
  const metrics = await (await ask("/metrics")).text();
  expect(metrics).toContain('manyhands_internal_failures_total{agent="swe"} 2');
  expect(metrics).toContain('manyhands_http_requests_total{agent="swe",route="/healthz",status="200"} 1');
  expect(metrics).toContain('manyhands_http_requests_total{agent="swe",route="/tasks/:id",status="401"} 1');
  const families = () => [{ name: "of_its_work", type: "counter", help: "Work.", samples: [] } as const];
  expect(await (await appOf({ metrics: { families } }).ask("/metrics")).text()).toContain("# TYPE of_its_work counter");
});

test("on loopback only this machine's pages and those of named sites are answered, unless another server sees to it", async () => {
  const rebound = { Host: "evil.example" };
  const foreign = { Origin: site };
  const statuses = async (over: Partial<AgentAppDeps>) => {
    const { statusOf } = appOf(over);
    return [await statusOf("/tasks", {}, rebound), await statusOf("/tasks", {}, foreign), await statusOf("/tasks")];
  };
  expect(await statuses({})).toEqual([403, 403, 200]);
  expect(await statuses({ cors: [site] })).toEqual([403, 200, 200]);
  expect(await statuses({ hostname: "0.0.0.0" })).toEqual([200, 200, 200]);
  expect(await statuses({ pathOf: ({ url }) => new URL(url).pathname })).toEqual([200, 200, 200]);
  const { headers } = await appOf({ cors: [site] }).ask("/tasks", {}, foreign);
  expect(headers.get("Access-Control-Allow-Origin")).toBe(site);
  expect((await appOf().ask("/tasks")).headers.get("Access-Control-Allow-Origin")).toBeNull();
});

test("receivers of notifications are those of the agent's own runs, and counted as such", async () => {
  const webhooks = { admit: async () => undefined, post: async () => undefined };
  const { send, ask } = appOf({ kind: "flow/swe", webhooks });
  const { id } = await taskIn(await send("m7"));
  const body = JSON.stringify({ id: "r", url: "https://r.example" });
  expect((await ask(`/tasks/${id}/pushNotificationConfigs`, { method: "POST", body })).status).toBe(200);
  const { runs } = await engine.list({ contextId: id, limit: 5 });
  expect(runs.map(({ kind, principal }) => [kind, principal])).toEqual([["flow/swe/push", "ann"]]);
  const metrics = await (await ask("/metrics")).text();
  expect(metrics).toContain('manyhands_receivers{agent="flow/swe",status="queued"} 1');
});

test("a known caller is told who it is on a card that is signed as the public one is", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const half = { ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256", use: "sig" } as PublicKey;
  const keys: HomeKeys = { ring: async () => [{ alg: "ES256", key: privateKey, publicKey: half }] };
  const security = { securitySchemes: {}, securityRequirements: [] };
  const { ask } = appOf({ facts: { publicUrl: "http://127.0.0.1:1", keys, security } });
  const card = AgentCard.fromJSON(await (await ask("/extendedAgentCard", {}, { "X-User": "bob" })).json());
  expect(JSON.stringify(AgentCard.toJSON(card))).toContain('"principal":"bob"');
  expect(card.signatures).not.toEqual([]);
  for (const signature of card.signatures)
    expect(await problemOfSignature(signature, card, half, Date.now())).toBeUndefined();
  expect((await appOf().ask("/extendedAgentCard")).status).not.toBe(200);
});

test("what readers see of an answer that is being written is every reply, unless the server marks which", () => {
  using handling = spyOn(handlers, "createRequestHandler");
  appOf();
  appOf({ draft: "marked" });
  expect(handling.mock.calls.map(([{ draft }]) => draft)).toEqual(["replies", "marked"]);
});

test("every stream is kept alive at the same times, and a message sent again is known for a day, unless the server says else", async () => {
  using streaming = spyOn(streams, "sseResponse");
  using handling = spyOn(handlers, "createRequestHandler");
  for (const [over, heartbeat, window] of [
    [{}, 8_000, 86_400_000],
    [{ heartbeatMs: 70, dedupeMs: 90 }, 70, 90],
  ] as const) {
    streaming.mockClear();
    const { ask, send } = appOf({ ...over, livePage: async () => undefined });
    const { id } = await taskIn(await send(`kept alive for ${heartbeat}`));
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } });
    for (const [path, init] of [
      [`/tasks/${id}:subscribe`, {}],
      ["/", { method: "POST", body }],
      [`/live/${id}`, {}],
    ] as const)
      await (await ask(path, init)).body?.cancel();
    expect(streaming.mock.calls.map(([, { heartbeatMs }]) => heartbeatMs)).toEqual(Array(3).fill(heartbeat));
    expect(handling.mock.calls.at(-1)?.[0].dedupeMs).toBe(window);
  }
});

test("nothing that is served can be a page of its own, in a frame or with a script", async () => {
  const { headers } = await appOf().ask("/tasks");
  expect(headers.get("Content-Security-Policy")).toBe("default-src 'none'; frame-ancestors 'none'; sandbox");
  expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-site");
  expect([headers.get("X-Content-Type-Options"), headers.get("Strict-Transport-Security")]).toEqual(["nosniff", null]);
});

test("an address that is not there is told from one that takes other methods", async () => {
  const { ask, statusOf } = appOf();
  const wrong = await ask("/message:send");
  expect([wrong.status, wrong.headers.get("Allow")]).toEqual([405, "POST"]);
  expect((await ask("/tasks", { method: "POST" })).headers.get("Allow")).toBe("GET");
  expect(await statusOf("/nothing/here")).toBe(404);
  for (const path of ["/live/t", "/mcp", "/.well-known/jwks.json", "/.well-known/oauth-protected-resource"])
    expect([path, await statusOf(path)]).toEqual([path, 404]);
});

test("a server has what it is given: a page to watch, keys, an issuer, extensions and a card of one version", async () => {
  const { send } = appOf();
  const { id } = await taskIn(await send("m6"));
  const order = { method: "POST", body: '{"do":"take"}' };
  const page = { order: async () => undefined, watch: async function* () {} };
  const seen: string[] = [];
  const livePage: AgentAppDeps["livePage"] = async ({ id: task }) => {
    seen.push(task);
    return page;
  };
  expect([await appOf({ livePage }).statusOf(`/live/${id}`, order), seen]).toEqual([200, [id]]);
  expect(await appOf({ kind: "flow/swe", livePage }).statusOf(`/live/${id}`, order)).toBe(404);
  expect(await appOf().statusOf(`/artifacts/${"0".repeat(64)}/x`, {}, { "X-User": "nobody" })).toBe(401);
  const issued = await appOf({ issuer: "https://id.example" }).ask("/tasks", {}, { "X-User": "nobody" });
  expect(issued.headers.get("WWW-Authenticate")).toContain("/.well-known/oauth-protected-resource");
  const keys = { ring: async () => [] as never };
  const own = appOf({ facts: { publicUrl: "http://127.0.0.1:1", keys } });
  expect(await own.statusOf("/.well-known/jwks.json")).toBe(200);
  const extension = "https://other.example/ext";
  const strict = appOf({ requiredExtensions: [extension], cardStyle: "strict" });
  expect(await strict.statusOf("/tasks")).toBe(400);
  expect(await strict.statusOf("/tasks", {}, { "A2A-Extensions": extension })).toBe(200);
  const card = async (app: ReturnType<typeof appOf>) =>
    (await (await app.ask("/.well-known/agent-card.json", {}, { "A2A-Version": "" })).json()) as Record<string, never>;
  expect([await card(strict), await card(appOf())].map((one) => "url" in one)).toEqual([false, true]);
  const { capabilities } = (await card(strict)) as unknown as { capabilities: Record<string, unknown> };
  expect(capabilities).toMatchObject({
    extensions: expect.arrayContaining([expect.objectContaining({ uri: extension })]),
  });
  expect(capabilities.pushNotifications ?? false).toBe(false);
});
