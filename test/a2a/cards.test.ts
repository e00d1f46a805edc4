import { afterAll, beforeAll, expect, test } from "bun:test";
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
    ["JSONRPC", "0.3", server.url],
  ]);
  const about = card.capabilities.extensions.find(({ uri }: { uri: string }) => uri === "urn:manyhands:agent:1");
  expect(about.params).toEqual({
    name: definition.name,
    model: { name: "test-model", provider: "rehearsal" },
    sandbox: "none",
  });
});

test("the 1.0 card holds no field of 0.3; the merged one holds both, at its own address or by version", async () => {
  const pure = await wire(read("agent-card.json"));
  for (const field of ["url", "preferredTransport", "protocolVersion"]) expect(pure[field]).toBeUndefined();
  const merged = await wire(read("agent.json"));
  expect(merged).toMatchObject({
    url: server.url,
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3",
    supportedInterfaces: pure.supportedInterfaces,
    skills: [{ id: "obey" }],
  });
  expect(await wire(read("agent-card.json", { "A2A-Version": "0.3" }))).toEqual(merged);
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
  expect((await read("agent.json", { "If-None-Match": etag })).status).toBe(200);
});
