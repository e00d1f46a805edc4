import { expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { callerNamed } from "manyhands/internal/core/caller";
import { startConformanceServer } from "../conformance/mcp/conformance-server.ts";

const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const post = (url: string, body: object, more: Record<string, string> = {}) =>
  fetch(url, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: "2.0", ...body }) });
const list = { id: 2, method: "tools/list", params: {} };

/** Starts a session with these headers; returns the headers of its further requests. */
async function begin(url: string, more: Record<string, string> = {}): Promise<Record<string, string>> {
  const version = "2025-11-25";
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const response = await post(url, { id: 1, method: "initialize", params }, more);
  await response.text();
  const id = response.headers.get("mcp-session-id") ?? "";
  const of = { ...more, "mcp-session-id": id, "mcp-protocol-version": version };
  await post(url, { method: "notifications/initialized" }, of);
  return of;
}

test("a session that is guessed, or stolen by another identity, is as unknown as none", async () => {
  await using server = await startConformanceServer({
    identify: ({ headers }) => callerNamed(headers.get("x-user") ?? ""),
  });
  const ann = await begin(server.url, { "x-user": "ann" });
  expect((await post(server.url, list, ann)).status).toBe(200);
  expect((await post(server.url, list, { ...ann, "x-user": "bob" })).status).toBe(404);
  expect((await post(server.url, list, { ...ann, "mcp-session-id": crypto.randomUUID() })).status).toBe(404);
  expect((await fetch(server.url, { method: "DELETE", headers: { ...ann, "x-user": "bob" } })).status).toBe(404);
  expect((await post(server.url, list, ann)).status).toBe(200);
});

test("a client without a session is served all the same, request by request", async () => {
  await using server = await startConformanceServer();
  const response = await post(server.url, list, { "mcp-protocol-version": "2025-06-18" });
  expect(await response.text()).toContain("test_simple_text");
});

const slow = { id: 7, method: "tools/call", params: { name: "test_tool_with_progress", _meta: { progressToken: 1 } } };

/**
 * Reads an event stream up to its first message, and leaves it. Returns the id to continue from.
 */
async function leaveEarly(response: Response): Promise<string> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("Completed step 0")) break;
  }
  return [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? "";
}

test("a client whose connection broke in mid-call gets what it missed when it returns", async () => {
  await using server = await startConformanceServer();
  const of = await begin(server.url);
  const last = await leaveEarly(await post(server.url, slow, of));
  const back = await fetch(server.url, { headers: { ...of, accept: "text/event-stream", "last-event-id": last } });
  const missed = await back.text();
  expect(missed).not.toContain("Completed step 0 ");
  expect(missed).toContain('"text":"done"');
});

test("a session ends when its client stays away in mid-call, and after a long idle time", async () => {
  await using away = await startConformanceServer({ sessions: { awayMs: 30 } });
  const left = await begin(away.url);
  await leaveEarly(await post(away.url, slow, left));
  await until(async () => (await post(away.url, list, left)).status === 404, 500);
  await using idle = await startConformanceServer({ sessions: { idleMs: 50 } });
  const still = await begin(idle.url);
  await until(async () => (await post(idle.url, list, still)).status === 404, 500);
});

for (const mode of ["auto", "legacy"] as const)
  test(`a client is notified that the tools have changed (${mode})`, async () => {
    await using server = await startConformanceServer();
    const { promise: heard, resolve } = Promise.withResolvers<void>();
    const tools = { autoRefresh: false, onChanged: () => resolve() };
    const client = new Client({ name: "t", version: "1" }, { versionNegotiation: { mode }, listChanged: { tools } });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    const before = (await client.listTools()).tools[0]?.description;
    await client.callTool({ name: "test_trigger_tool_change" });
    await heard;
    expect((await client.listTools()).tools[0]?.description).not.toBe(before ?? "");
    await client.close();
  });

/** Polls with increasing pauses, since each request keeps a session alive. */
async function until(holds: () => Promise<boolean>, pauseMs: number): Promise<void> {
  for (let pause = pauseMs; pause < 10_000; pause *= 2) {
    await Bun.sleep(pause);
    if (await holds()) return;
  }
  throw new Error("It never came true.");
}
