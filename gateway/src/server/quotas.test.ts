import { expect, test } from "bun:test";
import { callerNamed } from "manyhands/internal/core/caller";
import type { QuotaConfig } from "manyhands/internal/core/runs/quota";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const identify = ({ headers }: { readonly headers: Headers }) => callerNamed(headers.get("X-User") ?? "local");

const start = (quotas: QuotaConfig) => startGateway({ app: { identify }, quotas });

function post({ url }: TestGateway, path: string, body: object, headers: Record<string, string> = {}) {
  return fetch(url + path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "A2A-Version": "1.0",
      "X-User": "ann",
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

const usageOf = async ({ url }: TestGateway, user: string) =>
  (await fetch(`${url}/usage`, { headers: { "X-User": user } })).json();

const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "sleep" }] };
const chat = { model: "echo", messages: [{ role: "user", content: "sleep" }] };

test("every face of the gateway refuses one run too many in its own words, and another principal has its own room", async () => {
  await using gateway = await start({ everybody: { runsAtOnce: 1 } });
  const key = { "Idempotency-Key": "first" };
  const first = await post(gateway, "/flows/echo", { input: "sleep" }, key);
  expect(first.status).toBe(202);

  const rest = await post(gateway, "/flows/echo", { input: "sleep" });
  expect([rest.status, rest.headers.get("Retry-After")]).toEqual([429, "5"]);
  expect(await rest.json()).toMatchObject({ status: 429, code: "quota_exceeded", retryable: true });

  const openai = await post(gateway, "/v1/chat/completions", chat);
  expect([openai.status, openai.headers.get("Retry-After")]).toEqual([429, "5"]);
  expect(await openai.json()).toMatchObject({ error: { type: "rate_limit_error", code: "quota_exceeded" } });

  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const opened = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params });
  await opened.text();
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const call = { name: "echo", arguments: { task: "sleep" } };
  const mcp = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 2, method: "tools/call", params: call }, session);
  const told = await mcp.text();
  expect(told).toContain('"isError":true');
  expect(told).toContain("1 run at once. Try again in 5 s. (quota_exceeded)");

  const a2a = await post(gateway, "/a2a/echo", { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  expect([a2a.status, a2a.headers.get("Retry-After")]).toEqual([429, "5"]);

  expect((await gateway.engine.list({ principal: "ann", limit: 9 })).total).toBe(1);
  const again = await post(gateway, "/flows/echo", { input: "sleep" }, key);
  expect(await again.json()).toMatchObject({ runId: ((await first.json()) as { runId: string }).runId });
  expect((await post(gateway, "/flows/echo", { input: "sleep" }, { "X-User": "bob" })).status).toBe(202);
});

test("the requests of a minute are counted over all faces together", async () => {
  await using gateway = await start({ named: { ann: { requestsPerMinute: 2 } } });
  expect((await post(gateway, "/flows/echo", { input: "hi" })).status).toBe(202);
  const params = { message: { ...message, parts: [{ text: "hi" }] } };
  const a2a = await post(gateway, "/a2a/echo", { jsonrpc: "2.0", id: 1, method: "SendMessage", params });
  expect(a2a.status).toBe(200);
  expect((await post(gateway, "/v1/chat/completions", chat)).status).toBe(429);
  expect(await usageOf(gateway, "ann")).toMatchObject({ requests: { used: 2, limit: 2 } });
});

test("everybody sees what they use and may use, and nothing of others", async () => {
  const usage = { inputTokens: 7, cachedInputTokens: 0, outputTokens: 3, costUsd: 0.5, source: "provider" };
  await using gateway = await start({ everybody: { tokensPerDay: 10 }, named: { bob: { runsAtOnce: 3 } } });
  const events = [{ type: "context-compacted", summary: "", kept: 0, usage }];
  const request = { kind: "none", input: null, principal: "ann", contextId: "c", quota: {} };
  await gateway.engine.start({ ...request, events });
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  expect(await usageOf(gateway, "ann")).toEqual({
    principal: "ann",
    day,
    requests: { used: 0 },
    runs: { used: 1 },
    tokens: { used: 10, limit: 10 },
    usd: { used: 0.5 },
  });
  expect(await usageOf(gateway, "bob")).toMatchObject({ runs: { used: 0, limit: 3 }, tokens: { used: 0, limit: 10 } });
  expect((await usageOf(gateway, "local")) as object).not.toHaveProperty("tokens.limit");
  expect((await post(gateway, "/flows/echo", { input: "hi" })).status).toBe(429);
});
