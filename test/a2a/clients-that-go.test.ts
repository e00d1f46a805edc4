import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { countedReaders } from "./counted-readers.ts";
import { eventually, rpc, textMessage } from "./rpc.ts";

const readers = countedReaders();
let server: AgentServer;
let id: string;
beforeAll(async () => {
  server = await startAgentServer({ heartbeatMs: 300, engine: readers.engine });
  const started = await rpc(server.url, "SendMessage", textMessage("wait 600000", {}, { returnImmediately: true }));
  id = started.body.result.task.id;
});
afterAll(() => server.stop());

const waiting = () => textMessage("wait 600000");
const call = (method: string, params: unknown, version = "1.0") => ({
  path: "/",
  body: { jsonrpc: "2.0", id: 1, method, params },
  version,
});
const legacy = {
  message: { kind: "message", messageId: "gone", role: "user", parts: [{ kind: "text", text: "wait 600000" }] },
};

const requests: Readonly<Record<string, () => { path: string; body?: unknown; version?: string }>> = {
  "a stream over JSON-RPC": () => call("SendStreamingMessage", waiting()),
  "a subscription over JSON-RPC": () => call("SubscribeToTask", { id }),
  "a blocking call over JSON-RPC": () => call("SendMessage", waiting()),
  "a stream over JSON-RPC of 0.3": () => call("message/stream", legacy, "0.3"),
  "a stream over HTTP+JSON": () => ({ path: "/message:stream", body: waiting() }),
  "a subscription over HTTP+JSON": () => ({ path: `/tasks/${id}:subscribe` }),
  "a blocking call over HTTP+JSON": () => ({ path: "/message:send", body: waiting() }),
};

test.each(Object.entries(requests))("%s is followed for no longer than its client is there", async (_, make) => {
  const { path, body, version = "1.0" } = make();
  const leaving = new AbortController();
  const answer = fetch(new URL(path, server.url), {
    method: body === undefined ? "GET" : "POST",
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { "A2A-Version": version, "Content-Type": "application/json" },
    signal: leaving.signal,
  }).then((response) => response.text());
  await eventually(async () => readers.count() === 1 || undefined);
  leaving.abort();
  await expect(answer).rejects.toThrow();
  await eventually(async () => readers.count() === 0 || undefined);
  expect(server.reported).toEqual([]);
});
