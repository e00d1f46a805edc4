import { afterAll, beforeAll, expect, test } from "bun:test";
import { SendMessageRequest } from "@a2a-js/sdk";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { type GrpcClient, grpcClient } from "./grpc-client.ts";
import { textMessage } from "./rpc.ts";

const trace = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: "a=1" };
const malformed = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", tracestate: "a=1" };

let server: AgentServer;
let client: GrpcClient;
beforeAll(async () => {
  server = await startAgentServer();
  client = grpcClient(server.grpc);
});
afterAll(async () => {
  client[Symbol.dispose]();
  await server.stop();
});

async function post(path: string, body: unknown, headers: Record<string, string>): Promise<void> {
  const all = { "Content-Type": "application/json", "A2A-Version": "1.0", ...headers };
  const response = await fetch(`${server.url}${path}`, { method: "POST", headers: all, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  await response.text();
}

const rpcOf = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
const legacy = () => ({
  messageId: crypto.randomUUID(),
  kind: "message",
  role: "user",
  parts: [{ kind: "text", text: "answer yes" }],
});

const ways: Readonly<Record<string, (headers: Record<string, string>) => Promise<unknown>>> = {
  "JSON-RPC": (headers) => post("/", rpcOf("SendMessage", textMessage("answer yes")), headers),
  "a JSON-RPC stream": (headers) => post("/", rpcOf("SendStreamingMessage", textMessage("answer yes")), headers),
  "JSON-RPC of A2A 0.3": (headers) =>
    post("/", rpcOf("message/send", { message: legacy() }), { ...headers, "A2A-Version": "0.3" }),
  "HTTP+JSON": (headers) => post("/message:send", textMessage("answer yes"), headers),
  gRPC: (metadata) =>
    client.call("sendMessage", SendMessageRequest.fromJSON(textMessage("answer yes")), {
      metadata: { "a2a-version": "1.0", ...metadata },
    }),
};

for (const [way, send] of Object.entries(ways)) {
  test(`a task keeps the trace it came with over ${way}; without one, or with a malformed one, it has none`, async () => {
    const kept = [];
    for (const headers of [trace, {}, malformed]) {
      await send(headers);
      const { runs } = await server.engine.list({ limit: 1 });
      kept.push((runs[0]?.input as AgentInput | undefined)?.trace);
    }
    expect(kept).toEqual([trace, undefined, undefined]);
  });
}
