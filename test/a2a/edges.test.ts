import { afterAll, beforeAll, expect, test } from "bun:test";
import { status as grpcStatus } from "@grpc/grpc-js";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { AppError } from "manyhands/internal/core/errors";
import type { Engine } from "manyhands/internal/core/runs/engine";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { failureOf, grpcClient, grpcMessage } from "./grpc-client.ts";
import { rawRpc, rpc, textMessage, wire } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

test("a body above 10 MB is refused with 413, announced or not", async () => {
  const big = "x".repeat(11 * 1024 * 1024);
  const announced = await rawRpc(server.url, big);
  expect(announced.status).toBe(413);
  expect(announced.body.error.data[0].reason).toBe("TOO_LARGE");
  const chunks = () =>
    new ReadableStream({
      start(controller) {
        for (let n = 0; n < 11; n++) controller.enqueue(new Uint8Array(1024 * 1024));
        controller.close();
      },
    });
  const routes = ["/message:send", "/message:stream", "/tasks/x:cancel", "/tasks/x/pushNotificationConfigs"];
  for (const route of routes) {
    const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
    const streamed = await fetch(`${server.url}${route}`, { method: "POST", body: chunks(), headers });
    expect([route, streamed.status]).toEqual([route, 413]);
    expect((await wire(streamed)).error.status).toBe("RESOURCE_EXHAUSTED");
  }
});

test.each([
  ["a foreign host", { Host: "evil.test:4101" }, 403],
  ["a foreign origin", { Origin: "http://evil.test" }, 403],
  ["an origin of another port", { Origin: "http://127.0.0.1:1" }, 403],
  ["an opaque origin", { Origin: "null" }, 403],
  ["a host that is none", { Host: "a b" }, 400],
])("a request with %s is refused on a loopback server", async (_, headers, status) => {
  for (const path of ["/healthz", "/.well-known/agent-card.json"]) {
    expect((await fetch(`${server.url}${path}`, { headers })).status).toBe(status);
  }
  expect((await rawRpc(server.url, "{}", headers)).status).toBe(status);
});

test("requests for its own names and from its own pages are answered", async () => {
  const { port } = new URL(server.url);
  for (const headers of [{ Host: `localhost:${port}` }, { Origin: server.url }]) {
    expect((await fetch(`${server.url}/healthz`, { headers })).status).toBe(200);
  }
});

test("health tells the model and the sandbox tier; metrics count runs and requests", async () => {
  await rpc(server.url, "SendMessage", textMessage("answer x"));
  const health = await wire(fetch(`${server.url}/healthz`));
  expect(health).toMatchObject({ ok: true, agent: "scripted", model: { name: "test-model" }, sandbox: "none" });
  expect(await wire(fetch(`${server.url}/readyz`))).toEqual({ ready: true });
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^manyhands_runs\{agent="scripted",status="completed"\} [1-9]\d*$/m);
  expect(metrics).toMatch(/^manyhands_http_requests_total\{agent="scripted",route="\/",status="200"\} [1-9]\d*$/m);
  expect(metrics).not.toContain("evil");
});

test("a page among the files is only ever saved, never shown; what is not there is 404", async () => {
  const html = Buffer.from("<script>alert(1)</script>").toString("base64");
  const parts = [{ text: "file x.html" }, { raw: html, mediaType: "text/html", filename: "x.html" }];
  const { body } = await rpc(server.url, "SendMessage", textMessage("", { parts }));
  const url: string = body.result.task.artifacts[0].parts[0].url;
  const page = await fetch(url);
  expect(page.headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(page.headers.get("Content-Disposition")).toStartWith('attachment; filename="x.html"');
  expect(page.headers.get("Content-Security-Policy")).toContain("sandbox");
  expect(await page.text()).toBe("<script>alert(1)</script>");
  const plain = await fetch(url.replace("x.html", "a%22%0d%0a%E2%82%AC.txt"));
  expect(plain.headers.get("Content-Disposition")).toStartWith("inline; filename=\"a____.txt\"; filename*=UTF-8''a%22");
  expect((await fetch(url, { headers: { "If-None-Match": page.headers.get("ETag") ?? "" } })).status).toBe(304);
  expect((await fetch(url.replace(/[0-9a-f]{64}/, "0".repeat(64)))).status).toBe(404);
  expect((await fetch(`${server.url}/artifacts/..%2f..%2fetc/passwd`)).status).toBe(404);
  expect((await fetch(url, { headers: { "X-User": "nobody" } })).status).toBe(401);
});

test("an unknown path is a plain 404", async () => {
  const missing = await fetch(`${server.url}/admin`);
  expect(missing.status).toBe(404);
  expect((await wire(missing)).error.status).toBe("NOT_FOUND");
});

test("while the store cannot be written, new work is refused as retryable", async () => {
  const full: AgentServer = await startAgentServer({ engine: withoutStorage });
  try {
    const { body, status, headers } = await rpc(full.url, "SendMessage", textMessage("answer x"));
    expect(status).toBe(503);
    expect(headers.get("Retry-After")).toBe("5");
    expect(body.error).toMatchObject({
      code: -32603,
      data: [{ reason: "STORAGE_UNAVAILABLE", metadata: { code: "storage_unavailable", retryable: "true" } }],
    });
    const message = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "answer x" }] };
    const legacy = await rpc(full.url, "message/send", { message }, { headers: { "A2A-Version": "0.3" } });
    expect({ status: legacy.status, said: legacy.body.error.message }).toEqual({
      status: 503,
      said: "The disk is full",
    });
    const client = await createA2aClient(full.url, { retry: { retries: 0, firstPauseMs: 1 } });
    expect(client.send({ text: "answer x" })).rejects.toThrow("The disk is full");
    const rest = await fetch(`${full.url}/message:send`, {
      method: "POST",
      body: JSON.stringify(textMessage("answer x")),
      headers: { "A2A-Version": "1.0", "Content-Type": "application/json" },
    });
    expect(rest.status).toBe(503);
    expect(rest.headers.get("Retry-After")).toBe("5");
    expect((await wire(rest)).error.status).toBe("UNAVAILABLE");
    using grpc = grpcClient(full.grpc);
    const failure = await failureOf(grpc.call("sendMessage", grpcMessage("answer x")));
    expect(failure).toMatchObject({ code: grpcStatus.UNAVAILABLE, reason: "STORAGE_UNAVAILABLE", retryAfter: "5" });
    const health = await fetch(`${full.url}/healthz`);
    expect(health.status).toBe(200);
    expect((await wire(health)).storage.reason).toBe("The disk is full");
    expect((await fetch(`${full.url}/readyz`)).status).toBe(503);
  } finally {
    await full.stop();
  }
});

function withoutStorage(real: Engine): Engine {
  return {
    ...real,
    health: () => ({ ok: false, reason: "The disk is full" }),
    start: () => Promise.reject(new AppError("storage_unavailable", "The disk is full")),
  };
}

test("an internal failure is logged with its cause and not revealed to callers", async () => {
  const broken = await startAgentServer({
    engine: (real) => ({ ...real, get: () => Promise.reject(new Error("SELECT * FROM secrets")) }),
  });
  try {
    const { body } = await rpc(broken.url, "GetTask", { id: "x" });
    expect(body.error.code).toBe(-32603);
    const rest = await fetch(`${broken.url}/tasks/x`, { headers: { "A2A-Version": "1.0" } });
    expect(rest.status).toBe(500);
    expect(JSON.stringify(body) + (await rest.text())).not.toContain("secrets");
    expect(broken.reported.map(String)).toEqual(["Error: SELECT * FROM secrets", "Error: SELECT * FROM secrets"]);
  } finally {
    await broken.stop();
  }
});

test("other runs in the same store are not tasks of this agent: they cannot be read, messaged or canceled", async () => {
  const { run } = await server.engine.start({ kind: "another", input: null, principal: "alice", contextId: "c" });
  const { message } = textMessage("go on", { taskId: run.id });
  for (const [method, params] of [
    ["GetTask", { id: run.id }],
    ["CancelTask", { id: run.id }],
    ["SendMessage", { message }],
    ["SubscribeToTask", { id: run.id }],
  ] as const) {
    const { body } = await rpc(server.url, method, params, { user: "alice" });
    expect([method, body.error?.code]).toEqual([method, -32001]);
  }
  expect((await server.engine.get(run.id))?.status).toBe("queued");
});
