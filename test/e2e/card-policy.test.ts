import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { freePort } from "manyhands/internal/http/free-port";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const sign = generateAgentCardSignature(pair.privateKey, { alg: "ES256", kid: "key-1", typ: "JOSE" });

let home: string;
let gateway: GatewayServer;
let settings: { readonly MANYHANDS_GATEWAY_CARD_KEYS: string };

/** A gateway that uses agents with signed cards only. */
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "card-policy-"));
  const keys = join(home, "keys.json");
  const key = { ...(await crypto.subtle.exportKey("jwk", pair.publicKey)), kid: "key-1" };
  await writeFile(keys, JSON.stringify({ keys: [key] }));
  const hurry = { MANYHANDS_GATEWAY_CHECK_SECONDS: "1", MANYHANDS_GATEWAY_PATIENCE_SECONDS: "1" };
  settings = { MANYHANDS_GATEWAY_CARD_KEYS: keys };
  gateway = await startGatewayServer(home, { ...settings, ...hurry });
});

afterAll(async () => {
  await gateway.stop("SIGKILL");
  await rm(home, { recursive: true });
});

/** An agent that answers every message at once; each test sets its card. */
async function greeter() {
  let asked = 0;
  let answerCard: () => AgentCard;
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET") return Response.json(AgentCard.toJSON(answerCard()));
      asked++;
      const { id } = JSON.parse(await request.text());
      const message = { messageId: crypto.randomUUID(), role: "ROLE_AGENT", parts: [{ text: "hello" }] };
      return Response.json({ jsonrpc: "2.0", id, result: { message } });
    },
  });
  const unsigned = AgentCard.fromJSON({
    name: "Greeter",
    description: "Says hello.",
    version: "1.0.0",
    supportedInterfaces: [{ url: `${server.url.origin}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: {},
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "greet", name: "Greet", description: "Says hello.", tags: ["greeting"] }],
  });
  const agent = {
    url: server.url.origin,
    unsigned,
    card: await sign(unsigned),
    asked: () => asked,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  answerCard = () => agent.card;
  return agent;
}

const known = async (name: string) =>
  (await gateway.call("/agents")).body.agents.find((agent: { name: string }) => agent.name === name);
const ask = async (...agents: string[]) =>
  (await gateway.call("/flows/sequential", { input: "Hello?", agents }, { Prefer: "wait=20" })).body;

test("an agent whose card has no trusted signature is not accepted in any way", async () => {
  await using agent = await greeter();
  agent.card = agent.unsigned;
  const refused = await gateway.call("/agents", { url: agent.url });
  expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
  expect(refused.body.detail).toContain("no signature");
  expect(await known("greeter")).toBeUndefined();
  expect(await ask(agent.url)).toMatchObject({ status: "failed", error: { code: "forbidden" } });
  expect(agent.asked()).toBe(0);
});

test("a signed agent is used and changes of its card are reported; without its signature it is not used until the signature is back", async () => {
  await using agent = await greeter();
  expect((await gateway.call("/agents", { url: agent.url })).status).toBe(201);
  expect(await ask("greeter")).toMatchObject({ status: "completed", answer: "hello" });
  const skill = { ...agent.unsigned.skills[0], id: "insult" } as (typeof agent.unsigned.skills)[number];
  const changed = { ...agent.unsigned, version: "2.0.0", skills: [skill] };
  agent.card = await sign(changed);
  await until(async () => (await known("greeter")).changes.length > 0);
  const { changes } = await known("greeter");
  expect(changes[0].what).toEqual([
    'version was "1.0.0", is "2.0.0"',
    'skill "insult" is new',
    'skill "greet" is gone',
  ]);
  agent.card = { ...changed, description: "Says anything.", signatures: agent.card.signatures };
  await until(async () => (await known("greeter")).health === "refused");
  expect(await known("greeter")).toMatchObject({ reason: expect.stringContaining("signature"), breaker: "closed" });
  const asked = agent.asked();
  const refused = { code: "task_failed", message: expect.stringContaining("greeter may not be used") };
  expect(await ask("greeter")).toMatchObject({ status: "failed", error: refused });
  expect(agent.asked()).toBe(asked);
  agent.card = await sign(changed);
  await until(async () => (await known("greeter")).health === "up");
  expect(await ask("greeter")).toMatchObject({ status: "completed" });
});

test("the agents of the gateway's own home are used, by their shared key; one of another home is not, whatever its name and address", async () => {
  const [own, alien] = await Promise.all(["state", "other"].map((folder) => startManusIn(join(home, folder))));
  if (own === undefined || alien === undefined) throw new Error("both were started");
  const { MANYHANDS_GATEWAY_CARD_KEYS } = settings;
  const guarded = (MANUS_URL: string) =>
    startGatewayServer(home, { MANYHANDS_GATEWAY_CARD_KEYS, MANUS_URL, MANYHANDS_GATEWAY_CHECK_SECONDS: "1" });
  const gateways = await Promise.all([guarded(own.url), guarded(alien.url)]);
  try {
    const healthAt = async (one: GatewayServer) => {
      const { body } = await one.call("/agents");
      return body.agents.find((agent: { name: string }) => agent.name === "manus");
    };
    for (const one of gateways) await until(async () => (await healthAt(one)).health !== "unknown");
    expect(await healthAt(gateways[0])).toMatchObject({ health: "up" });
    expect(await healthAt(gateways[1])).toMatchObject({
      health: "refused",
      reason: expect.stringContaining("is not trusted here"),
    });
  } finally {
    await Promise.all([...gateways, own, alien].map((one) => one.stop("SIGKILL")));
  }
});

async function startManusIn(state: string): Promise<AgentServer> {
  await mkdir(state, { recursive: true });
  const agent = startManus({ MANYHANDS_HOME: state, PORT: `${freePort()}`, SANDBOX: "off" });
  await agent.ready;
  return agent;
}
