import { afterAll, beforeAll, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const trace = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: "a=1" };
const malformed = { traceparent: "00-4bf92f-00f067aa0ba902b7-01", tracestate: "a=1" };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function post(path: string, body: unknown, headers: Record<string, string>): Promise<void> {
  const all = { "Content-Type": "application/json", ...headers };
  const response = await fetch(`${gateway.url}${path}`, { method: "POST", headers: all, body: JSON.stringify(body) });
  expect(response.ok).toBe(true);
  await response.text();
}

async function overMcp(headers: Record<string, string>, _meta: Record<string, string>): Promise<void> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }));
  await client.callTool({ name: "echo", arguments: { task: "hello" }, _meta });
  await client.close();
}

const chat = { model: "echo", messages: [{ role: "user", content: "hello" }] };
const ways: Readonly<Record<string, (headers: Record<string, string>) => Promise<void>>> = {
  REST: (headers) => post("/flows/echo", { input: "hello" }, headers),
  "/v1": (headers) => post("/v1/chat/completions", chat, headers),
  "a stream of /v1": (headers) => post("/v1/chat/completions", { ...chat, stream: true }, headers),
  "MCP's headers": (headers) => overMcp(headers, {}),
  "MCP's _meta": (meta) => overMcp({}, meta),
};

for (const [way, start] of Object.entries(ways)) {
  test(`a run keeps the trace it came with over ${way}; without one, or with a malformed one, it has none`, async () => {
    const kept = [];
    for (const told of [trace, {}, malformed]) {
      await start(told);
      const { runs } = await gateway.engine.list({ limit: 50 });
      // The one before may have ended after this one began, and is listed first then.
      const [newest] = runs.toSorted((a, b) => (a.id < b.id ? 1 : -1));
      kept.push((newest?.input as AgentInput | undefined)?.trace);
    }
    expect(kept).toEqual([trace, undefined, undefined]);
  });
}
