import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { openMcp } from "manyhands/internal/server/protocols/open-mcp";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import { createSandbox } from "../../shared/src/machine/confinement/create-sandbox.ts";
import type { Sandbox } from "../../shared/src/machine/sandbox/sandbox.ts";
import { openWorkspace } from "../../shared/src/machine/workspace/open-workspace.ts";
import { contextForTest } from "../../shared/src/testing/tool-context.ts";
import { type OAuthServer, startOAuthServer } from "./oauth-server.ts";

let home: string;
let sandbox: Sandbox;
const { signal } = new AbortController();

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-oauth-"));
  await chmod(home, 0o711);
  sandbox = await createSandbox({ mode: "off", folder: join(home, "mcp") });
});
afterAll(async () => {
  await sandbox.close();
  await rm(home, { recursive: true, force: true });
});

/** Opens the servers as an agent and the command line do. */
async function open(servers: Record<string, object>) {
  await writeFile(join(home, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  const config = await loadConfig({ cwd: home, env: { MANYHANDS_HOME: home } });
  const logger = { info: () => undefined, warn: () => undefined };
  return openMcp(config, { sandbox, logger, shared: await openShared(config), env: {} });
}

/** Signs in as a browser would. */
async function signInTo(server: OAuthServer): Promise<void> {
  const mcp = await open({ web: { url: server.url } });
  try {
    await mcp.login("web", (address) => void fetch(address), signal);
  } finally {
    await mcp.close();
  }
}

test("signing in leaves a token that is encrypted on disk and sent only to its server; it is renewed when no longer accepted", async () => {
  using server = startOAuthServer();
  using other = startOAuthServer();
  const before = await open({ web: { url: server.url } });
  expect((await before.mount("all").list("local", signal)).tools).toEqual([]);
  expect(before.health().servers[0]?.error).toContain("bun manyhands mcp login web");
  await before.close();

  await signInTo(server);
  const sealed = await readFile(join(home, "mcp-credentials"));
  expect(sealed.includes("token-1")).toBe(false);
  expect((await stat(join(home, "mcp-key"))).mode & 0o777).toBe(0o600);

  const mcp = await open({ web: { url: server.url }, other: { url: other.url } });
  const [echo] = (await mcp.mount("all").list("local", signal)).tools;
  const workspace = await openWorkspace({ home, principal: "local", contextId: "c" });
  expect((await echo?.call({ text: "hi" }, contextForTest(workspace)))?.text).toContain("echo: hi");
  expect(server.headers.at(-1)?.get("authorization")).toBe("Bearer token-1");
  expect(other.headers.length).toBeGreaterThan(0);
  expect(other.headers.every((headers) => headers.get("authorization") === null)).toBe(true);

  server.revoke();
  expect((await echo?.call({ text: "again" }, contextForTest(workspace)))?.text).toContain("echo: again");
  expect(server.granted).toEqual(["token-1", "token-2"]);
  await mcp.close();
});

test("a sign-in is its principal's: nobody else's tasks go in by it, and theirs ends without it", async () => {
  using server = startOAuthServer();
  await signInTo(server);
  const mcp = await open({ web: { url: server.url } });
  const own = mcp.mount("all");
  const from = server.headers.length;
  expect((await own.list("alice", signal)).tools).toEqual([]);
  expect(server.headers.slice(from).every((headers) => headers.get("authorization") === null)).toBe(true);
  expect(mcp.health("alice").servers[0]?.error).toContain("mcp login web --for alice");
  expect((await own.list("local", signal)).tools.length).toBeGreaterThan(0);
  await mcp.login("web", (address) => void fetch(address), signal, "alice");
  await mcp.close();

  const again = await open({ web: { url: server.url } });
  expect((await again.mount("all").list("alice", signal)).tools.length).toBeGreaterThan(0);
  expect(server.headers.at(-1)?.get("authorization")).toBe(`Bearer ${server.granted.at(-1)}`);
  expect((await again.mount("all").list("bob", signal)).tools).toEqual([]);
  await again.close();
});

test("a name that moves to another address does not keep its token", async () => {
  using server = startOAuthServer();
  using thief = startOAuthServer();
  await signInTo(server);
  const mcp = await open({ web: { url: thief.url } });
  expect((await mcp.mount("all").list("local", signal)).tools).toEqual([]);
  expect(thief.headers.length).toBeGreaterThan(0);
  expect(thief.headers.every((headers) => headers.get("authorization") === null)).toBe(true);
  await mcp.close();
});

test.each([
  [
    "metadata at the cloud's own address",
    { metadata: "http://169.254.169.254/latest/meta-data" },
    /not public|forbidden/,
  ],
  [
    "an address with a command in it",
    { authorizationEndpoint: "https://x.example/a?b=$(touch+pwned)" },
    /not safe to open/,
  ],
  ["an address that is no web page", { authorizationEndpoint: "file:///usr/bin/xcalc" }, /.+/],
  ["an address in clear text elsewhere", { authorizationEndpoint: "http://x.example/authorize" }, /.+/],
])("%s is refused, and nobody is directed there", async (_, lies, message) => {
  using server = startOAuthServer(lies);
  const mcp = await open({ web: { url: server.url } });
  const shown: string[] = [];
  try {
    await expect(mcp.login("web", (address) => shown.push(address), signal)).rejects.toThrow(message);
  } finally {
    await mcp.close();
  }
  expect(shown).toEqual([]);
  expect(server.granted).toEqual([]);
});
