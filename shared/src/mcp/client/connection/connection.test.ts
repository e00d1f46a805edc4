import { expect, spyOn, test } from "bun:test";
import { type Client, InsufficientScopeError } from "@modelcontextprotocol/client";
import { createEgress } from "../../../machine/egress/egress.ts";
import {
  type McpAnswer,
  type McpServerByHand,
  mcpResult,
  mcpServerByHand,
  mcpStream,
  mcpTool,
} from "../../../testing/mcp/server-by-hand.ts";
import { parseServers } from "../servers/read-servers.ts";
import type { ConnectDeps } from "./connect.ts";
import { createConnection } from "./connection.ts";
import type { CallListener } from "./questions.ts";

const { signal } = new AbortController();

/** A connection to a server with these settings of its entry, and the scopes that it required. */
function connectionTo(url: string, entry: object = {}, deps: Partial<ConnectDeps> = {}) {
  const text = JSON.stringify({ mcpServers: { web: { url, ...entry } } });
  const [server] = parseServers(text, "mcp.json", {});
  if (server === undefined) throw new Error("There is no server.");
  const scopes: string[] = [];
  const connection = createConnection(server, {
    patienceMs: 60_000,
    egress: createEgress({ allow: [], deny: [], only: [] }),
    proxy: undefined,
    authorize: async () => undefined,
    widenScope: async (_: unknown, scope: string) => void scopes.push(scope),
    ...deps,
  } as unknown as ConnectDeps);
  return { connection, scopes, [Symbol.asyncDispose]: () => connection.close() };
}

const call =
  (name = "echo", args: object = { a: 1 }) =>
  (client: Client) =>
    client.callTool({ name, arguments: { ...args } });
const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;
const count = ({ asked }: McpServerByHand, method: string) => asked.filter((one) => one === method).length;

/** Announces during each call that the list of tools has changed. */
const changingItsList: McpAnswer = (message) =>
  message.method === "tools/call"
    ? mcpStream(
        (async function* () {
          yield { method: "notifications/tools/list_changed" };
          yield { id: message.id, result: { content: [] } };
        })(),
      )
    : undefined;

test("of a list with invalid tools the others are there, and what is wrong with each is known until the list is asked for again", async () => {
  using web = mcpServerByHand();
  const invalid = [
    { name: "text", inputSchema: { type: "string" } },
    { name: "\u001b[31mnone" },
    { inputSchema: { type: "object" } },
    { ...mcpTool("required"), inputSchema: { type: "object", required: "a" } },
    { ...mcpTool("list"), outputSchema: { type: "array" } },
    null,
  ];
  web.tools = [mcpTool("one"), ...invalid, mcpTool("two")] as never;
  const warned: unknown[] = [];
  const log = { warn: ({ tools }: { readonly tools?: readonly string[] }) => void warned.push(tools?.length) };
  await using it = connectionTo(web.url, {}, { log } as unknown as Partial<ConnectDeps>);
  const names = async () => (await it.connection.tools(signal)).map(({ name }) => name);
  expect(await names()).toEqual(["one", "two"]);
  expect(it.connection.health().invalid).toEqual([
    'text: inputSchema.type: Invalid input: expected "object"',
    "none: inputSchema: Invalid input: expected object, received undefined",
    "(without a name): name: Invalid input: expected string, received undefined",
    "required: inputSchema.required: Invalid input: expected array, received string",
    "list: outputSchema.type: is no object",
    "(without a name): Invalid input: expected object, received null",
  ]);
  web.tools = [mcpTool("one")];
  web.answer = changingItsList;
  await it.connection.use(call("one"), signal);
  expect([await names(), it.connection.health().invalid, warned]).toEqual([["one"], undefined, [6]]);
});

test("uses that come together share one connection and one list, which is asked for again once it changed or failed", async () => {
  using web = mcpServerByHand();
  await using it = connectionTo(web.url);
  expect(it.connection.health()).toEqual({ state: "idle", connects: 0 });
  const lists = await Promise.all([it.connection.tools(signal), it.connection.tools(signal)]);
  expect(lists[0]).toBe(lists[1] as never);
  expect(it.connection.health()).toEqual({ state: "ready", connects: 1, version: "2025-06-18" });
  web.answer = changingItsList;
  web.tools = [mcpTool("other")];
  expect(await it.connection.tools(signal)).toBe(lists[0] as never);
  await it.connection.use(call(), signal);
  expect((await it.connection.tools(signal)).map(({ name }) => name)).toEqual(["other"]);
  await it.connection.use(call(), signal);
  web.answer = ({ method }) => (method === "tools/list" ? new Response("broken", { status: 500 }) : undefined);
  await expect(it.connection.tools(signal)).rejects.toMatchObject({ code: "unavailable" });
  web.answer = () => undefined;
  expect((await it.connection.tools(signal)).map(({ name }) => name)).toEqual(["other"]);
  expect([count(web, "initialize"), count(web, "tools/list")]).toEqual([1, 4]);
});

test("of tools with one name, with which every request to a model would be refused, the first counts", async () => {
  using web = mcpServerByHand();
  await using it = connectionTo(web.url);
  web.tools = [mcpTool("echo", "first"), mcpTool("other"), mcpTool("echo", "second")];
  const tools = await it.connection.tools(signal);
  expect(tools.map(({ name, description }) => [name, description])).toEqual([
    ["echo", "first"],
    ["other", "The tool other."],
  ]);
});

test("a server that says its tools changed is asked for them again, even if it never declared that it would", async () => {
  using web = mcpServerByHand();
  await using it = connectionTo(web.url);
  web.answer = (message) => {
    if (message.method === "initialize")
      return mcpResult(message, {
        protocolVersion: "2025-06-18",
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name: "undeclared", version: "1" },
      });
    if (message.method === "tools/list") return mcpResult(message, { tools: web.tools });
    if (message.id === undefined) return new Response(null, { status: 202 });
    if (message.method !== "tools/call") return undefined;
    return mcpStream(
      (async function* () {
        yield { method: "notifications/tools/list_changed" };
        yield { id: message.id, result: { content: [] } };
      })(),
    );
  };
  expect((await it.connection.tools(signal)).map(({ name }) => name)).toEqual(["echo"]);
  web.tools = [mcpTool("other")];
  await it.connection.use(call(), signal);
  expect((await it.connection.tools(signal)).map(({ name }) => name)).toEqual(["other"]);
});

test.each([404, 400])(
  "a call that is refused with %d for its session is made once more, in a new one",
  async (status) => {
    using web = mcpServerByHand();
    web.refusal = status;
    await using it = connectionTo(web.url);
    await it.connection.use(call(), signal);
    web.sessions.clear();
    expect(textOf(await it.connection.use(call(), signal))).toBe('{"a":1}');
    expect([count(web, "tools/call"), it.connection.health()]).toEqual([3, expect.objectContaining({ connects: 2 })]);
    // A server that refuses each session is not asked without end.
    web.answer = ({ method }) => {
      if (method === "tools/call") web.sessions.clear();
      return undefined;
    };
    await expect(it.connection.use(call(), signal)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/^The MCP server web: /),
    });
    expect(count(web, "tools/call")).toBe(5);
  },
);

test.each([500, 503, 403, 429])(
  "a call that fails with %d may have been made, and is not made again",
  async (status) => {
    using web = mcpServerByHand();
    await using it = connectionTo(web.url);
    await it.connection.tools(signal);
    web.answer = ({ method }) => (method === "tools/call" ? new Response("no", { status }) : undefined);
    await expect(it.connection.use(call(), signal)).rejects.toMatchObject({ code: "unavailable" });
    expect([count(web, "tools/call"), count(web, "initialize")]).toEqual([1, 1]);
  },
);

test("a 404 of a server without sessions is no forgotten one", async () => {
  using web = mcpServerByHand();
  web.answer = (message) => {
    if (message.method === "tools/call") return new Response("no", { status: 404 });
    if (message.method !== "initialize")
      return message.id === undefined ? new Response(null, { status: 202 }) : undefined;
    return mcpResult(message, {
      protocolVersion: "2025-06-18",
      capabilities: {},
      serverInfo: { name: "x", version: "1" },
    });
  };
  await using it = connectionTo(web.url);
  await expect(it.connection.use(call(), signal)).rejects.toMatchObject({ code: "unavailable" });
  expect(count(web, "tools/call")).toBe(1);
});

/**
 * Makes the tool calls of a server ask this first, and return what they were answered: each when so
 * many have come, and not before all of these are answered.
 */
function asking(web: McpServerByHand, method: string, params: object, together = 1) {
  const waiting = new Map<string, (answer: unknown) => void>();
  const [come, answers] = [gateOf(together), gateOf(together)];
  web.answer = (message) => {
    const answered = waiting.get(String(message.id));
    if (answered !== undefined && message.method === undefined) {
      answered(message.result ?? message.error);
      return new Response(null, { status: 202 });
    }
    if (message.method !== "tools/call") return undefined;
    const id = crypto.randomUUID();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    waiting.set(id, resolve);
    return mcpStream(
      (async function* () {
        await come();
        yield { id, method, params };
        const text = JSON.stringify(await promise);
        await answers();
        yield { id: message.id, result: { content: [{ type: "text", text }] } };
      })(),
    );
  };
}

/** Lets nobody through until so many have come; those after them go through at once. */
function gateOf(many: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let come = 0;
  return () => {
    if (++come >= many) resolve();
    return promise;
  };
}

const elicitation = { message: "Who?", requestedSchema: { type: "object", properties: {} } };
const sampling = { messages: [], maxTokens: 5 };
const unclear: string[] = [];
const listenerOf = (who: string): CallListener => ({
  unclear: () => void unclear.push(who),
  elicit: async ({ message }) => ({ action: "accept", content: { who, message } }),
  sample: async ({ maxTokens }) => ({
    model: who,
    role: "assistant",
    content: { type: "text", text: `${maxTokens}` },
  }),
});

test("what a server asks on the way of a call is for that call, however many are under way, and afterwards for none", async () => {
  using web = mcpServerByHand();
  await using it = connectionTo(web.url, { sampling: true });
  const asked = async (who?: string) =>
    JSON.parse(textOf(await it.connection.use(call(), signal, who === undefined ? undefined : listenerOf(who))) ?? "");
  asking(web, "elicitation/create", elicitation);
  const accepted = (who: string) => ({ action: "accept", content: { who, message: "Who?" } });
  expect(await asked("ann")).toEqual(accepted("ann"));
  asking(web, "elicitation/create", elicitation, 2);
  expect(await Promise.all([asked("ann"), asked("bob")])).toEqual([accepted("ann"), accepted("bob")]);
  asking(web, "elicitation/create", elicitation, 2);
  expect(await Promise.all([asked("ann"), asked()])).toEqual([accepted("ann"), { action: "cancel" }]);
  expect(unclear).toEqual([]);
  expect(await asked()).toEqual({ action: "cancel" });
  expect(await asked("bob")).toEqual(accepted("bob"));
  asking(web, "sampling/createMessage", sampling);
  expect(await asked("ann")).toMatchObject({ model: "ann", content: { text: "5" } });
  asking(web, "sampling/createMessage", sampling, 2);
  expect(await Promise.all([asked("ann"), asked("bob")])).toMatchObject([{ model: "ann" }, { model: "bob" }]);
  expect(await asked()).toMatchObject({ message: expect.stringContaining("No call is under way") });
});

test.each<[object, object]>([
  [{}, { elicitation: { form: {}, url: {} } }],
  [{ elicitation: false }, {}],
  [{ sampling: true }, { elicitation: { form: {}, url: {} }, sampling: {} }],
])("a server whose entry says %j is offered exactly %j", async (entry, offered) => {
  using web = mcpServerByHand();
  const seen: unknown[] = [];
  await using it = connectionTo(web.url, entry);
  asking(web, "sampling/createMessage", sampling);
  const answer = web.answer;
  web.answer = (message, request) => {
    if (message.method === "initialize") seen.push(message.params?.capabilities);
    return answer(message, request);
  };
  const said = textOf(await it.connection.use(call(), signal, listenerOf("ann")));
  expect([seen, said?.includes('"model"')]).toEqual([[offered], "sampling" in offered]);
});

test("a call that needs a wider scope is told so, and the next sign-in asks for it", async () => {
  using web = mcpServerByHand();
  await using it = connectionTo(web.url);
  const refused = new InsufficientScopeError({ requiredScope: "files:write" });
  await expect(it.connection.use(() => Promise.reject(refused), signal)).rejects.toMatchObject({
    code: "unauthorized",
    message: expect.stringContaining("mcp login web"),
  });
  expect(it.scopes).toEqual(["files:write"]);
});

test("an abort ends a use with its own reason, and the connection stays", async () => {
  using web = mcpServerByHand();
  await using it = connectionTo(web.url);
  await it.connection.tools(signal);
  const stop = new AbortController();
  web.answer = ({ method }) => {
    if (method !== "tools/call") return undefined;
    stop.abort("enough");
    return new Promise(() => undefined);
  };
  const use = (client: Client) => client.callTool({ name: "echo", arguments: {} }, { signal: stop.signal });
  await expect(it.connection.use(use, stop.signal)).rejects.toBe("enough");
  await expect(it.connection.tools(AbortSignal.abort("before"))).rejects.toBe("before");
  web.answer = () => undefined;
  await it.connection.use(call(), signal);
  expect(it.connection.health()).toMatchObject({ state: "ready", connects: 1 });
});

test("one that gives up while the server starts leaves the others their connection", async () => {
  using web = mcpServerByHand();
  const gate = Promise.withResolvers<undefined>();
  web.answer = ({ method }) => (method === "initialize" ? gate.promise : undefined);
  await using it = connectionTo(web.url);
  const stop = new AbortController();
  const [first, second] = [it.connection.use(call(), stop.signal), it.connection.use(call(), signal)];
  first.catch(() => undefined);
  while (count(web, "initialize") === 0) await Bun.sleep(1);
  expect(it.connection.health()).toEqual({ state: "connecting", connects: 0 });
  stop.abort("enough");
  await expect(first).rejects.toBe("enough");
  gate.resolve(undefined);
  expect(textOf(await second)).toBe('{"a":1}');
  expect(count(web, "initialize")).toBe(1);
});

test("a failure to connect is told and followed by a pause; a success forgives it", async () => {
  using web = mcpServerByHand();
  await using it = connectionTo(web.url);
  web.answer = () => new Response("down", { status: 500 });
  await expect(it.connection.tools(signal)).rejects.toMatchObject({ code: "unavailable" });
  expect(it.connection.health()).toEqual({ state: "failed", connects: 0, error: expect.stringContaining("web") });
  expect(it.connection.waitMs()).toBeGreaterThan(0);
  expect(it.connection.waitMs()).toBeLessThanOrEqual(500);
  web.answer = () => undefined;
  await it.connection.tools(signal);
  expect([it.connection.waitMs(), it.connection.health()]).toEqual([0, expect.objectContaining({ state: "ready" })]);
  expect(it.connection.health()).not.toHaveProperty("error");
  // The next failure counts as the first again.
  web.answer = () => new Response("gone", { status: 404 });
  await expect(it.connection.use(call(), signal)).rejects.toMatchObject({ code: "unavailable" });
  expect(it.connection.health()).toMatchObject({ state: "failed" });
  expect(it.connection.waitMs()).toBeLessThanOrEqual(500);
});

test("of the pauses after failures a short one is waited out, a long one refused with the reason, and meanwhile nobody asks", async () => {
  using web = mcpServerByHand();
  web.answer = () => new Response("down", { status: 500 });
  let now = 1_000_000;
  using clock = spyOn(performance, "now").mockImplementation(() => now);
  await using it = connectionTo(web.url);
  for (let n = 0; n < 4; n++) {
    now += 60_000;
    await expect(it.connection.tools(signal)).rejects.toMatchObject({ code: "unavailable" });
  }
  const asked = web.asked.length;
  const refused = await it.connection.tools(signal).catch((error) => error.message);
  expect(refused).toMatch(
    /^The MCP server web is not there; the next attempt to reach it is in 4 s\. The MCP server web: \S/,
  );
  expect(web.asked.length).toBe(asked);
  now += 3_990;
  const waits: number[] = [];
  web.answer = () => {
    waits.push(it.connection.waitMs());
    return undefined;
  };
  using timers = spyOn(globalThis, "setTimeout");
  await it.connection.tools(signal);
  expect(timers.mock.calls.map(([, ms]) => ms)).toContain(10);
  // Who asks meanwhile need not wait: the attempt is under way.
  expect(new Set(waits)).toEqual(new Set([0]));
  expect(clock).toHaveBeenCalled();
});

test("calls whose session is forgotten share the new one, whether they learn it together or late, and the old one is closed", async () => {
  using web = mcpServerByHand();
  await using it = connectionTo(web.url);
  const first = await it.connection.use(async (client) => client, signal);
  web.sessions.clear();
  const late = Promise.withResolvers<undefined>();
  web.answer = ({ method, params }, { headers }) => {
    const isOld = !web.sessions.has(headers.get("mcp-session-id") ?? "");
    const { a } = (params?.arguments ?? {}) as { a?: number };
    return method === "tools/call" && isOld && a === 3 ? late.promise : undefined;
  };
  const uses = [1, 2, 3].map((a) => it.connection.use(call("echo", { a }), signal));
  expect((await Promise.all(uses.slice(0, 2))).map(textOf)).toEqual(['{"a":1}', '{"a":2}']);
  expect(first.transport).toBeDefined();
  late.resolve(undefined);
  expect(textOf(await uses[2])).toBe('{"a":3}');
  expect([web.sessions.size, count(web, "initialize"), first.transport]).toEqual([1, 2, undefined]);
});

test("a connection that is closed ends its client, also while that connects, and is used by nobody", async () => {
  using web = mcpServerByHand();
  const ready = connectionTo(web.url).connection;
  await ready.tools(signal);
  await ready.close();
  expect(ready.health()).toMatchObject({ state: "idle" });
  await expect(ready.use(call(), signal)).rejects.toMatchObject({
    code: "unavailable",
    message: "The MCP server web is no longer in use.",
  });
  web.answer = ({ method }) => (method === "initialize" ? new Promise(() => undefined) : undefined);
  const { connection } = connectionTo(web.url);
  const waiting = connection.tools(signal);
  waiting.catch(() => undefined);
  while (count(web, "initialize") < 2) await Bun.sleep(1);
  await connection.close();
  await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
});
