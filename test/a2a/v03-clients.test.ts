import { afterAll, beforeAll, expect, test } from "bun:test";
import { ClientFactory } from "a2a-sdk-v0/client";
import { echo, startGateway, type TestGateway } from "../../gateway/src/testing/gateway.ts";
import { type AgentServer, startAgentServer } from "./agent-server.ts";

/** Clients of A2A 0.3 as published by their makers. They get only an address. */
let agent: AgentServer;
let gateway: TestGateway;
let addresses: readonly (readonly [what: string, url: string])[];
beforeAll(async () => {
  agent = await startAgentServer();
  const manus = { ...echo, name: "manus", kind: "manus" };
  gateway = await startGateway({ flows: [{ runnable: manus, execute: async () => ({ answer: "yes" }) }] });
  addresses = [
    ["an agent", agent.url],
    ["the gateway", gateway.url],
    ["a flow of the gateway", `${gateway.url}/a2a/echo/`],
  ];
});
afterAll(async () => {
  await agent.stop();
  await gateway[Symbol.asyncDispose]();
});

const message = () => ({
  kind: "message" as const,
  messageId: crypto.randomUUID(),
  role: "user" as const,
  parts: [{ kind: "text" as const, text: "answer yes" }],
});

test("the JavaScript client of 0.3 works with an agent, the gateway and a flow, given only the address", async () => {
  for (const [what, url] of addresses) {
    const client = await new ClientFactory().createFromUrl(url);
    const sent = await client.sendMessage({ message: message() });
    expect([what, sent.kind === "task" && sent.status.state]).toEqual([what, "completed"]);
  }
});
