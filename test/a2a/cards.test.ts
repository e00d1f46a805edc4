import { afterAll, beforeAll, expect, test } from "bun:test";
import { AgentCard } from "@a2a-js/sdk";
import { bearerSecurity } from "manyhands/internal/server/access";
import { type AgentServer, definition, startAgentServer } from "./agent-server.ts";
import { wire } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/.well-known/${path}`, { headers });

test("the card tells the real skills, what is served, and which model and sandbox are behind it", async () => {
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

test("a caller of 1.0 gets its card pure; the merged one, for everyone else, holds the fields of both", async () => {
  const pure = await wire(read("agent-card.json", { "A2A-Version": "1.0" }));
  for (const field of ["url", "preferredTransport", "protocolVersion"]) expect(pure[field]).toBeUndefined();
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

test("a server that is to be strict shows 0.3's fields to callers of 0.3 alone", async () => {
  const strict = await startAgentServer({ cardStyle: "strict" });
  const get = (path: string, headers = {}) => wire(fetch(`${strict.url}/.well-known/${path}`, { headers }));
  expect((await get("agent-card.json")).url).toBeUndefined();
  for (const card of [await get("agent.json"), await get("agent-card.json", { "A2A-Version": "0.3.0" })])
    expect(card).toMatchObject({ url: strict.url, protocolVersion: "0.3" });
  await strict.stop();
});

test("the merged card says in the words of either version that a token is wanted", async () => {
  const guarded = await startAgentServer({ security: bearerSecurity });
  const card = await wire(fetch(`${guarded.url}/.well-known/agent-card.json`));
  expect(card.securitySchemes.bearer).toMatchObject({ type: "http", scheme: "Bearer" });
  expect(card.security).toEqual([{ bearer: [] }]);
  const read = AgentCard.fromJSON(card);
  expect(read.securitySchemes).toMatchObject({
    bearer: { scheme: { $case: "httpAuthSecurityScheme", value: { scheme: "Bearer" } } },
  });
  expect(read.securityRequirements).toEqual(bearerSecurity.securityRequirements);
  expect(read.capabilities?.extendedAgentCard).toBe(false);
  await guarded.stop();
});

test("a card that did not change is not sent again", async () => {
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
