import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import { keyFiles, openHomeKeys, rotateHomeKey } from "manyhands/internal/a2a/signing/home-keys";
import { cardSecurity } from "manyhands/internal/auth/security";
import { type AgentServer, definition, startAgentServer } from "./agent-server.ts";
import { eventually, wire } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/.well-known/${path}`, { headers });

test("the card has the real skills, the interfaces, and the model and sandbox in use", async () => {
  const card = await wire(read("agent-card.json"));
  expect(card).toMatchObject({
    name: "Scripted agent",
    version: "1.2.3",
    skills: [{ id: "obey", tags: ["test"], examples: ["answer yes"] }],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  });
  const served = card.supportedInterfaces.map((i: Record<string, string>) => [
    i.protocolBinding,
    i.protocolVersion,
    i.url,
  ]);
  expect(served).toEqual([
    ["JSONRPC", "1.0", server.url],
    ["HTTP+JSON", "1.0", server.url],
    ["GRPC", "1.0", server.grpc],
    ["JSONRPC", "0.3", server.url],
  ]);
  const about = card.capabilities.extensions.find(({ uri }: { uri: string }) => uri === "urn:manyhands:agent:1");
  expect(about.params).toEqual({
    name: definition.name,
    model: { name: "test-model", provider: "rehearsal" },
    sandbox: "none",
  });
});

test("a caller of 1.0 gets a pure 1.0 card; all others get a merged one with the fields of both", async () => {
  const pure = await wire(read("agent-card.json", { "A2A-Version": "1.0" }));
  for (const field of ["url", "preferredTransport", "protocolVersion"]) expect(pure[field]).toBeUndefined();
  expect(await wire(read("agent-card.json?A2A-Version=1.0"))).toEqual(pure);
  const merged = await wire(read("agent-card.json"));
  expect(merged).toMatchObject({
    ...pure,
    url: server.url,
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3",
  });
  expect(await wire(read("agent.json"))).toEqual(merged);
  expect(await wire(read("agent-card.json", { "A2A-Version": "0.3" }))).toEqual(merged);
});

test("a strict server shows 0.3's fields only to callers of 0.3", async () => {
  const strict = await startAgentServer({ cardStyle: "strict" });
  const get = (path: string, headers = {}) => wire(fetch(`${strict.url}/.well-known/${path}`, { headers }));
  expect((await get("agent-card.json")).url).toBeUndefined();
  for (const card of [await get("agent.json"), await get("agent-card.json", { "A2A-Version": "0.3.0" })])
    expect(card).toMatchObject({ url: strict.url, protocolVersion: "0.3" });
  await strict.stop();
});

test("the merged card declares in both versions' terms that a token is required", async () => {
  const guarded = await startAgentServer({ security: cardSecurity() });
  const card = await wire(fetch(`${guarded.url}/.well-known/agent-card.json`));
  expect(card.securitySchemes.bearer).toMatchObject({ type: "http", scheme: "Bearer" });
  expect(card.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
  expect(card.supportsAuthenticatedExtendedCard).toBe(true);
  const read = AgentCard.fromJSON(card);
  expect(read.securitySchemes).toMatchObject({
    bearer: { scheme: { $case: "httpAuthSecurityScheme", value: { scheme: "Bearer" } } },
  });
  expect(read.securityRequirements).toEqual(cardSecurity().securityRequirements);
  expect(read.capabilities?.extendedAgentCard).toBe(true);
  await guarded.stop();
});

test("an unchanged card is not sent again", async () => {
  const first = await read("agent-card.json");
  const etag = first.headers.get("ETag") ?? "";
  expect(first.headers.get("Cache-Control")).toContain("max-age=");
  expect(Date.parse(first.headers.get("Last-Modified") ?? "")).toBeLessThanOrEqual(Date.now());
  expect(first.headers.get("Vary")).toBe("A2A-Version");
  const second = await read("agent-card.json", { "If-None-Match": etag });
  expect(second.status).toBe(304);
  expect(await second.text()).toBe("");
  expect((await read("agent-card.json", { "If-None-Match": etag, "A2A-Version": "1.0" })).status).toBe(200);
});

test("the SDK's verification passes over the card as it is served, merged or strict, by the key at its jku, also after a key is replaced", async () => {
  const home = await mkdtemp(join(tmpdir(), "card-keys-"));
  const signed = await startAgentServer({ keys: await openHomeKeys(keyFiles(home)), security: cardSecurity() });
  const kids: string[] = [];
  const verified = verifyAgentCardSignature(async (kid, jku = "") => {
    expect(jku).toBe(`${signed.url}/.well-known/jwks.json`);
    kids.push(kid);
    const { keys } = await wire(fetch(jku));
    expect(JSON.stringify(keys)).not.toContain('"d"');
    return keys.find((key: { kid: string }) => key.kid === kid);
  });
  const get = (headers: Record<string, string>) =>
    wire(fetch(`${signed.url}/.well-known/agent-card.json`, { headers }));
  try {
    for (const headers of [{}, { "A2A-Version": "1.0" }, { "A2A-Version": "0.3" }]) {
      const served = await get(headers);
      await verified(AgentCard.fromJSON(served));
      expect(verified(AgentCard.fromJSON({ ...served, description: "Something else." }))).rejects.toThrow();
      expect(await get(headers)).toEqual(served);
    }
    const [{ publicKey }] = await rotateHomeKey(keyFiles(home), { algorithm: "EdDSA" });
    const rotated = await eventually(async () => {
      await verified(AgentCard.fromJSON(await get({})));
      return kids.includes(publicKey.kid) || undefined;
    });
    expect(rotated).toBe(true);
  } finally {
    await signed.stop();
    await rm(home, { recursive: true });
  }
});
