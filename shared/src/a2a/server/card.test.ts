import { expect, test } from "bun:test";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import type { AgentProfile } from "../../core/agent.ts";
import { callerNamed } from "../../core/caller.ts";
import { agentCard, type CardFacts, cardApp, extendedCard } from "./card.ts";

const profile: AgentProfile = {
  name: "swe",
  title: "Software engineer",
  description: "Writes code.",
  version: "1.2.3",
  skills: [{ id: "code", name: "Code", description: "Writes it.", tags: ["code"], examples: ["Write it."] }],
};
const facts: CardFacts = { publicUrl: "http://a.example/swe//" };
const own = "urn:manyhands:agent:1";
const bindings = (more: Partial<CardFacts> = {}) =>
  agentCard(profile, { ...facts, ...more }).supportedInterfaces.map(
    ({ protocolBinding, protocolVersion, url, tenant }) =>
      `${protocolBinding} ${protocolVersion} ${url} ${tenant}`.trim(),
  );
const extensionsOf = (more: Partial<CardFacts> = {}) =>
  agentCard(profile, { ...facts, ...more }).capabilities?.extensions ?? [];

test("a card names each binding that is served, where it is served, and 0.3 for the one that old clients use", () => {
  const http = [
    "JSONRPC 1.0 http://a.example/swe",
    "JSONRPC 0.3 http://a.example/swe",
    "HTTP+JSON 1.0 http://a.example/swe",
  ];
  expect(bindings().toSorted()).toEqual(http.toSorted());
  expect(bindings({ grpc: { address: "a.example:50051", tenant: "swe" } }).toSorted()).toEqual(
    [...http, "GRPC 1.0 a.example:50051 swe"].toSorted(),
  );
});

test.each<readonly [Partial<CardFacts>, object]>([
  [{}, { streaming: true, pushNotifications: false, extendedAgentCard: false }],
  [{ streaming: false }, { streaming: false }],
  [{ push: true }, { pushNotifications: true }],
  [{ security: { securitySchemes: {}, securityRequirements: [] } }, { extendedAgentCard: true }],
])("a server with %j can do %j", (more, capabilities) => {
  expect(agentCard(profile, { ...facts, ...more }).capabilities).toMatchObject(capabilities);
});

test("an extension is required if the settings say so, one of others too, and no other is", () => {
  const foreign = "https://other.example/ext";
  const required = (uris: readonly string[]) =>
    extensionsOf({ requiredExtensions: uris }).flatMap(({ uri, required: is }) => (is ? [uri] : []));
  expect(required([])).toEqual([]);
  expect(required([own])).toEqual([own]);
  expect(required([foreign, own]).toSorted()).toEqual([foreign, own].toSorted());
  const known = extensionsOf();
  expect(extensionsOf({ requiredExtensions: [own] })).toHaveLength(known.length);
  expect(extensionsOf({ requiredExtensions: [foreign] })).toHaveLength(known.length + 1);
});

test("a card says what is known of the server, and to a known caller who it is", () => {
  const params = (more: Partial<CardFacts>) => extensionsOf(more).find(({ uri }) => uri === own)?.params;
  expect(params({})).toEqual({ name: "swe" });
  const model = { name: "m", provider: "p" };
  expect(params({ model, sandbox: "bwrap" })).toEqual({ name: "swe", model, sandbox: "bwrap" });
  const added = { uri: "urn:x", description: "X.", params: { a: 1 } };
  const { capabilities } = extendedCard(profile, { ...facts, extensions: [added] }, callerNamed("ann", ["read"]));
  const told = capabilities?.extensions.slice(-2).map(({ uri, params: about }) => [uri, about]);
  expect(told).toEqual([
    ["urn:x", { a: 1 }],
    ["urn:manyhands:caller:1", { principal: "ann", scopes: ["read"] }],
  ]);
});

test.each([
  ["merged", undefined, "/.well-known/agent-card.json", true],
  ["merged", "1.0", "/.well-known/agent-card.json", false],
  ["merged", " 1.0.1 ", "/.well-known/agent-card.json", false],
  ["merged", "0.3", "/.well-known/agent-card.json", true],
  ["strict", undefined, "/.well-known/agent-card.json", false],
  ["strict", "1.0", "/.well-known/agent-card.json", false],
  ["strict", "0.3.0", "/.well-known/agent-card.json", true],
  ["strict", undefined, "/.well-known/agent.json", true],
  ["strict", "1.0", "/.well-known/agent.json", true],
] as const)(
  "a server whose card is %s answers version %p at %s with the fields of 0.3 too: %p",
  async (style, version, path, both) => {
    const app = cardApp(async () => agentCard(profile, facts), {} as A2ARequestHandler, style);
    const answer = await app.request(path, { headers: version === undefined ? {} : { "A2A-Version": version } });
    const card = (await answer.json()) as Record<string, unknown>;
    expect([card.name, Array.isArray(card.supportedInterfaces), "url" in card]).toEqual([profile.title, true, both]);
    expect(answer.headers.get("Vary")).toContain("A2A-Version");
    expect(answer.headers.get("ETag")).not.toBeNull();
    expect(answer.headers.get("Cache-Control")).toBe("public, max-age=60");
  },
);
