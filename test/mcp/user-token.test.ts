import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type HttpServer, startHttpServer } from "./http-server.ts";
import { type ServedAgent, startServedAgent } from "./served-agent.ts";

const token = "the-token-of-our-user-that-nobody-else-may-see";
let bodies: string[];
let upstream: HttpServer;
let agent: ServedAgent;

beforeAll(async () => {
  bodies = [];
  upstream = startHttpServer(async (request) => {
    bodies.push(await request.clone().text());
    return undefined;
  });
  agent = await startServedAgent("serve_mcp = true", { MANYHANDS_TOKEN: token }, ({ messages }) => {
    const said = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
    return said.length === 0 ? { calls: [{ name: "web__echo", args: { text: "hi" } }] } : { text: said.join("\n") };
  });
  await writeFile(join(agent.home, "mcp.json"), JSON.stringify({ mcpServers: { web: { url: upstream.url } } }));
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  upstream[Symbol.dispose]();
});

const send = (authorization: string) =>
  fetch(agent.url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", authorization },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "echo" }] } },
    }),
  });

test("the credentials our user sends are never passed to a server", async () => {
  expect(await (await send(`Bearer ${token}`)).text()).toContain("echo: hi");
  expect(upstream.headers.length).toBeGreaterThan(0);
  const sent = JSON.stringify([bodies, upstream.headers.map((headers) => [...headers])]);
  expect(sent).not.toContain(token);
  expect(sent).not.toMatch(/authorization/i);
});

/** A valid token for another audience. */
function tokenFor(audience: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ aud: audience, exp: 4_102_444_800 })}.`;
}

test("a token meant for another server is refused by every adapter", async () => {
  const authorization = `Bearer ${tokenFor("https://elsewhere.example")}`;
  expect((await send(authorization)).status).toBe(401);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", authorization };
  expect((await fetch(`${agent.url}/mcp`, { method: "POST", headers, body: "{}" })).status).toBe(401);
});
