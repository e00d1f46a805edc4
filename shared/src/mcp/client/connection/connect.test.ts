import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgress } from "../../../machine/egress/egress.ts";
import type { Sandbox, SandboxCommand } from "../../../machine/sandbox/sandbox.ts";
import { mcpServerByHand } from "../../../testing/mcp/server-by-hand.ts";
import { type ProcessByHand, processByHand } from "../../../testing/sandbox/process-by-hand.ts";
import { parseServers } from "../servers/read-servers.ts";
import { type ConnectDeps, connect } from "./connect.ts";
import { createConnection } from "./connection.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-connect-"));
afterAll(() => rm(home, { recursive: true }));

type Program = (message: { id?: number; method: string }, program: ProcessByHand) => object | undefined;

/** Connects by an entry; its program is played by `play`, one process for each start. */
function connecting(entry: object, play: Program = () => undefined, more: Partial<ConnectDeps> = {}) {
  const [server] = parseServers(JSON.stringify({ mcpServers: { s: entry } }), "mcp.json", {});
  if (server === undefined) throw new Error("There is no server.");
  const started: { readonly command: SandboxCommand; readonly program: ProcessByHand }[] = [];
  const spawn = async (command: SandboxCommand) => {
    const program = processByHand({
      on(what, it) {
        if (what === "end") it.exits(0);
        if (!what.startsWith("write ")) return;
        const message = JSON.parse(what.slice("write ".length));
        const result = play(message, it);
        if (result !== undefined)
          it.says("stdout", `${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...result })}\n`);
      },
    });
    started.push({ command, program });
    return program.process;
  };
  const heard: string[] = [];
  const control = new AbortController();
  const deps = {
    patienceMs: 1_000,
    egress: createEgress({ allow: [], deny: [], only: [] }),
    policy: { allow: [], deny: [], only: [] },
    proxy: undefined,
    authorize: async () => undefined,
    widenScope: async () => undefined,
    sandbox: { tier: "bwrap", user: undefined, spawn } as unknown as Sandbox,
    unconfined: async () => ({ tier: "off", user: undefined, spawn }) as unknown as Sandbox,
    folder: join(home, "mcp"),
    kept: { home, others: [] },
    log: { warn: () => undefined },
    refused: () => undefined,
    ...more,
  };
  const listener = {
    ready: () => void heard.push("ready"),
    toolsChanged: () => void heard.push("changed"),
    leftOut: () => void heard.push("left out"),
  };
  const connected = () => connect(server, deps, listener, control.signal);
  return { started, heard, control, connected, lasting: () => createConnection(server, deps) };
}

const old = {
  result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } },
};
const unknown = { error: { code: -32601, message: "unknown" } };

test("a program of an older revision is asked first what it speaks, and connected in the same process", async () => {
  const said: string[] = [];
  const it = connecting({ command: "sh" }, ({ method }) => {
    said.push(method);
    return method === "initialize" ? old : method.startsWith("notifications/") ? undefined : unknown;
  });
  const { client, ending } = await it.connected();
  expect([client.getNegotiatedProtocolVersion(), ending(), it.started.length]).toEqual(["2025-06-18", undefined, 1]);
  expect(it.heard).toEqual(["ready"]);
  expect(said.slice(0, 2)).toEqual(["server/discover", "initialize"]);
  await client.close();
  expect([ending(), it.started[0]?.program.done.at(-1)]).toEqual([undefined, "kill"]);
});

test("of a program's list an invalid tool is left out, and told", async () => {
  const tools = [{ name: "odd" }, { name: "one", inputSchema: { type: "object" } }];
  const it = connecting({ command: "sh" }, ({ method }) =>
    method === "tools/list"
      ? { result: { tools } }
      : method === "initialize"
        ? old
        : method.startsWith("notifications/")
          ? undefined
          : unknown,
  );
  const { client } = await it.connected();
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["one"]);
  expect(it.heard).toEqual(["ready", "left out"]);
  await client.close();
});

test("a connection that is closed ends its program, and one whose program ends says why and starts it anew", async () => {
  const it = connecting({ command: "sh" }, ({ method }) =>
    method === "tools/list"
      ? { result: { tools: [] } }
      : method === "initialize"
        ? old
        : method.startsWith("notifications/")
          ? undefined
          : unknown,
  );
  const connection = it.lasting();
  await connection.tools(it.control.signal);
  it.started[0]?.program.exits(7);
  while (connection.health().state === "ready") await Bun.sleep(1);
  expect(connection.health()).toEqual({
    ...{ state: "failed", connects: 1 },
    error: "The MCP server s: it ended (exit code 7).",
  });
  await connection.tools(it.control.signal);
  expect([it.started.length, connection.health().connects]).toEqual([2, 2]);
  await connection.close();
  expect(it.started[1]?.program.done.slice(-2)).toEqual(["end", "kill"]);
});

test("a trusted program is started without the sandbox and may be told any folder, another one not", async () => {
  const sandbox = { tier: "none", user: undefined } as unknown as Sandbox;
  const trusted = connecting({ command: "sh", trust: "unconfined", read: [home] }, (_, it) => void it.exits(1), {
    sandbox,
  });
  await trusted.connected().catch(() => undefined);
  expect(trusted.started[0]?.command).toMatchObject({ network: "none", paths: { read: [home] } });
  const other = connecting({ command: "sh", read: [home] }, (_, it) => void it.exits(1));
  await expect(other.connected()).rejects.toThrow(`its read ${home} holds ${home}`);
});

test("a program that exits at a request it does not know is started once more as an old one", async () => {
  const it = connecting({ command: "sh" }, ({ method }, program) => {
    if (method === "initialize") return old;
    if (method === "server/discover") program.exits(1);
    return undefined;
  });
  const { client } = await it.connected();
  expect([client.getNegotiatedProtocolVersion(), it.started.length, it.heard]).toEqual([
    "2025-06-18",
    2,
    ["ready", "ready"],
  ]);
  await client.close();
});

test("a program that always exits is started twice, and the second reason is told", async () => {
  let starts = 0;
  const it = connecting({ command: "sh" }, (_, program) => void program.exits(++starts));
  await expect(it.connected()).rejects.toMatchObject({ code: "unavailable", message: "it ended (exit code 2)" });
  expect(it.started).toHaveLength(2);
});

test("of a program that exits first and then answers with an error, the error is told", async () => {
  const it = connecting({ command: "sh" }, ({ method }, program) => {
    if (method === "initialize") return { error: { code: -32000, message: "no license" } };
    program.exits(1);
    return undefined;
  });
  await expect(it.connected()).rejects.toThrow("no license");
  expect(it.started).toHaveLength(2);
});

test("no message of a server is longer than its entry allows, a program's or one over HTTP", async () => {
  const tools = { tools: [{ name: "x", description: "d".repeat(2_000), inputSchema: { type: "object" } }] };
  const listed = async (it: ReturnType<typeof connecting>) => {
    const connection = it.lasting();
    const outcome = await connection.tools(it.control.signal).then(
      () => "listed",
      ({ message }) => message,
    );
    await connection.close();
    return outcome;
  };
  const play: Program = ({ method }) =>
    method === "tools/list"
      ? { result: tools }
      : method === "initialize"
        ? old
        : method.startsWith("notifications/")
          ? undefined
          : unknown;
  using web = mcpServerByHand();
  web.tools = tools.tools as never;
  for (const [maxMessageBytes, told] of [
    [1_024, /message of more than 1 kB/i],
    [10_000, /^listed$/],
  ] as const) {
    expect(await listed(connecting({ command: "sh", maxMessageBytes }, play))).toMatch(told);
    expect(await listed(connecting({ url: web.url, maxMessageBytes }))).toMatch(told);
  }
});

test("a server elsewhere is reached through the operator's proxy, and nobody is followed to another place", async () => {
  const through: string[] = [];
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url, method }) {
      through.push(`${method} ${url}`);
      return new Response("no", { status: 500 });
    },
  });
  const far = connecting({ url: "http://mcp.invalid/mcp" }, undefined, { proxy: proxy.url.href });
  await expect(far.connected()).rejects.toThrow();
  expect(new Set(through)).toEqual(new Set(["POST http://mcp.invalid/mcp"]));
  using other = mcpServerByHand();
  using web = mcpServerByHand();
  const { client } = await connecting({ url: web.url }, undefined, { proxy: proxy.url.href }).connected();
  await client.close();
  expect(new Set(through).size).toBe(1);
  web.answer = () => Response.redirect(other.url, 307);
  await expect(connecting({ url: web.url, headers: { "x-key": "k" } }).connected()).rejects.toThrow();
  expect([web.asked.length > 0, other.asked]).toEqual([true, []]);
});

test("a program whose start is refused, or that answers with an error, is not started again, and is ended", async () => {
  const refused = connecting({ command: "sh" }, undefined, {
    sandbox: { tier: "none" } as unknown as Sandbox,
  });
  await expect(refused.connected()).rejects.toMatchObject({ code: "sandbox_unavailable" });
  const failing = connecting({ command: "sh" }, ({ method }) =>
    method === "initialize" ? { error: { code: -32000, message: "no license" } } : unknown,
  );
  await expect(failing.connected()).rejects.toThrow("no license");
  expect(failing.started.map(({ program }) => program.done.slice(-2))).toEqual([["end", "kill"]]);
});

// By itself the question is given up after five seconds, or for a remote server after thirty.
test("whoever gives up while a server is asked what it speaks is told the own reason at once, and its program is ended", async () => {
  const it = connecting({ command: "sh" }, () => void it.control.abort(new Error("enough")));
  await expect(it.connected()).rejects.toThrow("enough");
  expect(it.started.map(({ program }) => program.done.at(-1))).toEqual(["kill"]);
  using web = mcpServerByHand();
  const remote = connecting({ url: web.url });
  web.answer = () => {
    remote.control.abort(new Error("enough"));
    return new Promise(() => undefined);
  };
  await expect(remote.connected()).rejects.toThrow("enough");
  expect(web.asked).toEqual(["server/discover"]);
}, 20_000);

test("a program runs where its entry says, sees that folder, and has only its own variables and no network", async () => {
  const entry = {
    command: "/bin/sh",
    args: ["-c", "x"],
    cwd: "/var",
    env: { A: "1" },
    read: ["/etc"],
    write: ["/srv"],
  };
  const it = connecting(entry, (_, program) => void program.exits(1));
  await it.connected().catch(() => undefined);
  expect(it.started[0]?.command).toEqual({
    argv: ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", "/var", "/bin/sh", "-c", "x"],
    workspace: join(home, "mcp", "s"),
    env: { A: "1" },
    paths: { read: ["/etc", "/var"], write: ["/srv"] },
    limits: { cpuSeconds: 86_400 },
    network: "none",
  });
});

/**
 * The requests that connecting to a server makes that refuses them with this status, and the error.
 */
async function asked(status: number, entry: object = {}) {
  const methods: string[] = [];
  const bun = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ method }) {
      methods.push(method);
      return new Response("no", { status: method === "POST" ? status : 418 });
    },
  });
  const error = await connecting({ url: `${bun.url.href}mcp`, ...entry })
    .connected()
    .catch((one: Error) => one.message);
  await bun.stop(true);
  return { streamed: methods.includes("GET"), first: methods[0], error };
}

test.each([400, 404, 405, 406, 415])(
  "a server that answers %d is tried with the older event stream",
  async (status) => {
    const { streamed, error } = await asked(status);
    expect(streamed).toBe(true);
    // The stream was a guess: what is told is why the transport of today failed.
    expect(error).not.toMatch(/\b418\b/);
  },
);

test.each<[number, object, string, boolean]>([
  [500, {}, "POST", false],
  [403, {}, "POST", false],
  [405, { type: "http" }, "POST", false],
  [405, { type: "streamable-http" }, "POST", false],
  [405, { type: "sse" }, "GET", true],
])("a server that answers %d by an entry with %j is asked by %s, and by the stream: %p", async (...all) => {
  const [status, entry, first, streamed] = all;
  expect(await asked(status, entry)).toMatchObject({ first, streamed });
});

test("what authenticates to a server is asked for by its entry, and sent with its headers", async () => {
  using web = mcpServerByHand();
  const seen = new Set<string>();
  web.answer = (_, { headers }) => void seen.add(`${headers.get("authorization")} ${headers.get("x-own")}`);
  const entry = { url: web.url, headers: { "x-own": "1" } };
  const names: string[] = [];
  const it = connecting(entry, undefined, {
    authorize: async ({ name }) => {
      names.push(name);
      return { token: async () => "t" };
    },
  });
  const { client } = await it.connected();
  expect([names, [...seen]]).toEqual([["s"], ["Bearer t 1"]]);
  await client.close();
});
