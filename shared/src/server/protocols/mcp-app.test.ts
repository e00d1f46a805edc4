import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callerNamed, type Scope } from "../../core/caller.ts";
import { keptFile } from "../../machine/workspace/own-files/kept-file.ts";
import { type McpAppDeps, mcpApp } from "./mcp-app.ts";
import { showMountKey } from "./mount-key.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-mount-key-"));
afterAll(() => rm(home, { recursive: true }));

const path = join(home, "mcp-mount-key");
const kept = keptFile(path);
const keyInFile = async () => {
  await showMountKey(home, kept);
  return (await readFile(path, "utf8")).trim();
};

type Added = Awaited<ReturnType<McpAppDeps["host"]["add"]>>;

/** An agent's app, and what was done through it. */
function appForTest(more: Partial<McpAppDeps> = {}, scopes: readonly Scope[] = ["admin"]) {
  const done: unknown[] = [];
  const added: Added[number][] = [];
  const host = {
    add: async (entries: object) => {
      done.push(["add", entries]);
      return added;
    },
    remove: async (name: string) => void done.push(["remove", name]),
  } as unknown as McpAppDeps["host"];
  const app = mcpApp({
    agent: "swe",
    servers: "all",
    host,
    mountKey: kept,
    identify: () => callerNamed("alice", scopes),
    adapter: async (request, body) => {
      done.push(["mcp", request.method, body === undefined ? undefined : await request.text(), body]);
      return new Response("of the server");
    },
    report: (bug) => done.push(["bug", bug]),
    log: { info: (fields) => done.push(["log", fields]) },
    ...more,
  });
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ) => {
    const key = { "manyhands-mount-key": await keyInFile(), "content-type": "application/json" };
    const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const all = { ...key, ...headers };
    return app.request(path, {
      method,
      headers: all,
      ...(text !== undefined && { body: text }),
      ...(signal && { signal }),
    });
  };
  return { done, added, send };
}

const mount = { mcpServers: { files: { command: "x" } } };
const ready = { state: "ready", tools: 2, disabled: [] };
const of = (name: string, replaced: boolean, health: object | "off") => ({ name, replaced, health }) as Added[number];

test("servers are added by an administrator with the key, and told as they are: new ones or none", async () => {
  const { done, added, send } = appForTest();
  added.push(
    of("files", true, ready),
    of("web", false, { ...ready, disabled: ["pay"], version: "1" }),
    of("far", true, { ...ready, state: "failed", tools: 0, error: "gone" }),
    of("slow", true, { ...ready, state: "starting", tools: 0 }),
    of("odd", true, { ...ready, invalid: ["pay: no schema"] }),
    of("rest", true, "off"),
  );
  const created = await send("POST", "/mcp", mount);
  expect([created.status, await created.json()]).toEqual([
    201,
    {
      servers: [
        { name: "files", replaced: true, state: "connected", tools: 2 },
        { name: "web", replaced: false, state: "approval-pending", tools: 2, version: "1", awaitingApproval: ["pay"] },
        { name: "far", replaced: true, state: "error", tools: 0, error: "gone" },
        { name: "slow", replaced: true, state: "connecting", tools: 0 },
        { name: "odd", replaced: true, state: "connected", tools: 2, invalid: ["pay: no schema"] },
        { name: "rest", replaced: true, state: "disabled", tools: 0 },
      ],
    },
  ]);
  expect(done).toEqual([
    ["add", mount.mcpServers],
    ["log", { servers: ["files"] }],
  ]);
  added.splice(1, 1);
  expect((await send("POST", "/mcp", mount)).status).toBe(200);
  expect([(await send("DELETE", "/mcp/files")).status, done.slice(-2)]).toEqual([
    204,
    [
      ["remove", "files"],
      ["log", { servers: ["files"] }],
    ],
  ]);
});

const other = { "manyhands-mount-key": "another" };
test.each<[string, number, unknown, Record<string, string>, readonly Scope[], McpAppDeps["servers"]]>([
  ["without the scope", 403, mount, {}, ["read", "run"], "all"],
  ["with another key", 403, mount, other, ["admin"], "all"],
  ["as something else than JSON", 400, mount, { "content-type": "text/plain" }, ["admin"], "all"],
  ["without any", 400, { mcpServers: {} }, {}, ["admin"], "all"],
  ["that are no tables", 400, { mcpServers: { files: "x" } }, {}, ["admin"], "all"],
  ["beside another key", 400, { ...mount, more: 1 }, {}, ["admin"], "all"],
  ["that the agent does not use", 409, mount, {}, ["admin"], ["web"]],
])("servers %s are refused with %d", async (_, status, body, headers, scopes, servers) => {
  const { done, send } = appForTest({ servers }, scopes);
  expect((await send("POST", "/mcp", body, headers)).status).toBe(status);
  if (status === 403) expect((await send("DELETE", "/mcp/files", undefined, headers)).status).toBe(403);
  expect(done).toEqual([]);
});

test("a request is read up to ten megabytes, and who gives up is no longer waited for", async () => {
  const signals: AbortSignal[] = [];
  const add = async (_: object, signal: AbortSignal) => {
    signals.push(signal);
    return [];
  };
  const { send } = appForTest({ host: { add } as unknown as McpAppDeps["host"] });
  const long = { mcpServers: { files: { command: "x".repeat(10 * 1024 * 1024) } } };
  expect((await send("POST", "/mcp", long)).status).toBe(413);
  const caller = new AbortController();
  expect((await send("POST", "/mcp", mount, {}, caller.signal)).status).toBe(200);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  caller.abort();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test("one that the agent uses by name is added, and all of several must be", async () => {
  const { done, send } = appForTest({ servers: ["files"] });
  expect((await send("POST", "/mcp", mount)).status).toBe(200);
  const both = { mcpServers: { ...mount.mcpServers, web: {} } };
  const refused = await send("POST", "/mcp", both);
  expect([refused.status, JSON.stringify(await refused.json())]).toEqual([409, expect.stringContaining('\\"web\\"')]);
  expect(done.filter((one) => Array.isArray(one) && one[0] === "add")).toHaveLength(1);
});

test("every other request is for the agent's own MCP server, unchanged, if it is one", async () => {
  const { done, send } = appForTest({}, ["read"]);
  const message = { jsonrpc: "2.0", method: "x", mcpServers: {} };
  for (const body of [message, "no json", "[]", "null"])
    expect(await (await send("POST", "/mcp", body)).text()).toBe("of the server");
  expect(await (await send("GET", "/mcp")).text()).toBe("of the server");
  expect(done).toEqual([
    ["mcp", "POST", JSON.stringify(message), message],
    ["mcp", "POST", undefined, undefined],
    ["mcp", "POST", "[]", []],
    ["mcp", "POST", "null", null],
    ["mcp", "GET", undefined, undefined],
  ]);
  const none = appForTest({ adapter: undefined });
  for (const [method, body] of [["POST", message], ["GET"]] as const)
    expect((await none.send(method, "/mcp", body)).status).toBe(404);
});
