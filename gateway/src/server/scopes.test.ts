import { expect, test } from "bun:test";
import { callerNamed, type Identify, scopes } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import { startGateway } from "../testing/gateway.ts";

const identify: Identify = ({ headers }) => {
  const granted = headers.get("X-Scopes");
  if (granted === null) throw new AppError("unauthorized", "Say who you are.");
  return callerNamed(
    "alice",
    scopes.filter((scope) => granted.split(" ").includes(scope)),
  );
};

type Access = "read" | "run" | "admin" | "open";

/** Operations besides those of the API's own description. */
const others: readonly (readonly [string, string, Access, object?])[] = [
  ["get", "/v1/models", "read"],
  ["get", "/v1/models/echo", "read"],
  ["post", "/v1/chat/completions", "run", { model: "echo", messages: [{ role: "user", content: "hello" }] }],
  ["get", `/artifacts/${"0".repeat(64)}/x`, "read"],
  ["get", "/metrics", "read"],
  ["post", "/a2a/echo/message:send", "run", { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] } }],
  ["get", "/a2a/echo/tasks", "read"],
  ["get", "/a2a/echo/metrics", "read"],
  ["post", "/mcp", "run", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "x" } }],
  ["post", "/mcp", "run", ["ping", "tools/call"].map((method, id) => ({ jsonrpc: "2.0", id, method, params: {} }))],
  ["post", "/mcp", "read", { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }],
  ["get", "/healthz", "open"],
  ["get", "/readyz", "open"],
  ["get", "/", "open"],
  ["get", "/docs", "open"],
  ["get", "/openapi.json", "open"],
  ["get", "/a2a/echo/.well-known/agent-card.json", "open"],
];

/** What changes the server. */
const isAdministration = (method: string, path: string) =>
  path.startsWith("/settings") || (path.startsWith("/agents") && method !== "get");

test("every operation of every face takes a caller and its scope, and says so to whoever lacks it", async () => {
  const refused: string[] = [];
  const refusal = ({ method, path, status }: { method: string; path: string; status: number }) =>
    void refused.push(`${method} ${path} ${status}`);
  await using gateway = await startGateway({ app: { identify, refused: refusal } });
  const described = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  // The secret of a link opens what is below `/shared`, whoever sends it.
  const ofCallers = Object.entries(described.paths).filter(([path]) => !/^\/shared(\/|$)/.test(path));
  const own = ofCallers.flatMap(([path, operations]) =>
    Object.keys(operations).map((method): (typeof others)[number] => {
      const access = isAdministration(method, path) ? "admin" : method === "get" ? "read" : "run";
      const where = path.replaceAll(/\{\w+\}/g, "unknown");
      return method === "post" ? [method, where, access, {}] : [method, where, access];
    }),
  );
  expect(own.length).toBeGreaterThan(10);
  for (const [method, path, access, body] of [...own, ...others]) {
    const ask = async (granted?: string) => {
      const accept = "application/json, text/event-stream";
      const response = await fetch(gateway.url + path, {
        method,
        headers: {
          "Content-Type": "application/json",
          "A2A-Version": "1.0",
          Accept: accept,
          ...(granted !== undefined && { "X-Scopes": granted }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      // A stream has no end.
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (isStream) await response.body?.cancel();
      return {
        path,
        status: response.status,
        challenge: response.headers.get("WWW-Authenticate"),
        text: isStream ? "" : await response.text(),
      };
    };
    const unknown = await ask();
    if (access === "open") {
      expect(unknown).toMatchObject({ path, status: 200 });
      continue;
    }
    expect(unknown).toMatchObject({ path, status: 401, challenge: "Bearer" });
    const rest = scopes.filter((scope) => scope !== access && scope !== "admin").join(" ");
    const lacking = await ask(rest);
    expect(lacking).toMatchObject({
      path,
      status: 403,
      challenge: `Bearer error="insufficient_scope", scope="${access}"`,
    });
    expect(lacking.text).toContain(`the scope \`${access}\``);
    expect(refused).toContain(`${method.toUpperCase()} ${path} 401`);
    expect(refused).toContain(`${method.toUpperCase()} ${path} 403`);
    expect([401, 403]).not.toContain((await ask(access)).status);
  }
});

test("an MCP client learns where to sign in from the challenge, as its specification asks", async () => {
  await using gateway = await startGateway({ app: { identify, issuer: "https://id.example" } });
  const refused = await fetch(`${gateway.url}/mcp`, { method: "POST", body: "{}" });
  expect([refused.status, refused.headers.get("WWW-Authenticate")]).toEqual([
    401,
    `Bearer resource_metadata="${gateway.url}/.well-known/oauth-protected-resource/mcp"`,
  ]);
  const metadata = await fetch(`${gateway.url}/.well-known/oauth-protected-resource/mcp`);
  expect(await metadata.json()).toEqual({
    resource: `${gateway.url}/mcp`,
    authorization_servers: ["https://id.example"],
    scopes_supported: ["read", "run", "admin"],
    bearer_methods_supported: ["header"],
  });
  const lacking = await fetch(`${gateway.url}/runs`, { headers: { "X-Scopes": "run" } });
  expect(lacking.headers.get("WWW-Authenticate")).toBe(
    `Bearer error="insufficient_scope", scope="read", resource_metadata="${gateway.url}/.well-known/oauth-protected-resource"`,
  );
});
