import { expect, test } from "bun:test";
import { callerNamed, scopes } from "manyhands/internal/core/caller";
import type { QuotaConfig } from "manyhands/internal/core/runs/quota";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

const identify = ({ headers }: { readonly headers: Headers }) => {
  const granted = headers.get("X-Scopes")?.split(" ") ?? scopes;
  return callerNamed(
    headers.get("X-User") ?? "ann",
    scopes.filter((scope) => granted.includes(scope)),
  );
};

const start = (quotas: QuotaConfig = {}) => startGateway({ app: { identify }, quotas });

type Headers_ = Readonly<Record<string, string>>;

async function post({ url }: TestGateway, path: string, body: object, headers: Headers_ = {}): Promise<string> {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "A2A-Version": "1.0",
      ...headers,
    },
    body: JSON.stringify(body),
  });
  return `${answer.status} ${await answer.text()}`;
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
const a2aMessage = (text: string, over: object = {}) => {
  const parts = [{ text: "sleep" }, { raw: base64(text), filename: "a.txt" }];
  return { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts, ...over } };
};

/** A message with a file of this content, through every adapter that starts runs. */
const starts: Readonly<Record<string, (gateway: TestGateway, text: string, headers?: Headers_) => Promise<string>>> = {
  REST: (gateway, text, headers) =>
    post(
      gateway,
      "/flows/echo",
      { input: { text: "sleep", files: [{ name: "a.txt", bytes: base64(text) }] } },
      headers,
    ),
  "OpenAI's API": (gateway, text, headers) => {
    const file = { type: "file", file: { filename: "a.txt", file_data: `data:text/plain;base64,${base64(text)}` } };
    const content = [{ type: "text", text: "sleep" }, file];
    return post(gateway, "/v1/chat/completions", { model: "echo", messages: [{ role: "user", content }] }, headers);
  },
  async MCP(gateway, text, headers) {
    const files = [{ name: "a.txt", text }];
    const call = { name: "echo", arguments: { task: "sleep", files } };
    const clientInfo = { name: "test", version: "1" };
    const client = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const opened = await fetch(`${gateway.url}/mcp`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify(rpc("initialize", client)),
    });
    await opened.text();
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    return post(gateway, "/mcp", rpc("tools/call", call), { ...session, ...headers });
  },
  A2A: (gateway, text, headers) => post(gateway, "/a2a/echo", rpc("SendMessage", a2aMessage(text)), headers),
};

async function isStored({ artifacts }: TestGateway, text: string): Promise<boolean> {
  const { sha256 } = artifacts.describe(Buffer.from(text), { name: "a.txt" });
  return (await artifacts.get(sha256)) !== undefined;
}

test.each(Object.entries(starts))(
  "%s: the file of a run that a quota or a scope refuses is not stored",
  async (name, begin) => {
    await using gateway = await start({ named: { full: { runsAtOnce: 0 } } });
    const refused = await begin(gateway, `${name} full`, { "X-User": "full" });
    expect(refused).toContain("0 runs at once");
    expect(await isStored(gateway, `${name} full`)).toBe(false);
    const unscoped = await begin(gateway, `${name} reader`, { "X-Scopes": "read" });
    expect(unscoped).toMatch(/^403 |insufficient|forbidden/i);
    expect(await isStored(gateway, `${name} reader`)).toBe(false);
    expect((await gateway.engine.list({ limit: 9 })).total).toBe(0);
  },
);

test("the file of a message to a run of another, to one that has ended, or under a used id is not stored", async () => {
  await using gateway = await start({ named: { spent: { tokensPerDay: 0 } } });
  const body = await post(gateway, "/flows/echo", { input: "hi" }, { Prefer: "wait=10" });
  const { id } = JSON.parse(body.slice(4)) as { id: string };
  const said = (text: string) => ({ input: { text: "yes", files: [{ name: "a.txt", bytes: base64(text) }] } });
  expect(await post(gateway, `/runs/${id}/answer`, said("late"))).toMatch(/^409 /);
  expect(await post(gateway, `/runs/${id}/answer`, said("foreign"), { "X-User": "bob" })).toMatch(/^404 /);
  expect(await post(gateway, "/a2a/echo", rpc("SendMessage", a2aMessage("ended", { taskId: id })))).toContain("-32004");
  expect(await post(gateway, "/a2a/echo", rpc("SendMessage", a2aMessage("unknown", { taskId: "none" })))).toContain(
    "-32001",
  );
  const first = await post(gateway, "/flows/echo", said("first"), { "Idempotency-Key": "k" });
  expect(first).toMatch(/^202 /);
  expect(await isStored(gateway, "first")).toBe(true);
  expect(await post(gateway, "/flows/echo", said("second"), { "Idempotency-Key": "k" })).toMatch(/^409 /);
  expect(await post(gateway, "/flows/echo", { input: said("wordless").input.files }, {})).toMatch(/^400 /);
  for (const text of ["late", "foreign", "ended", "unknown", "second", "wordless"])
    expect([text, await isStored(gateway, text)]).toEqual([text, false]);
});
