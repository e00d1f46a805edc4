import { expect, spyOn, test } from "bun:test";
import {
  Client,
  type ClientCapabilities,
  type Progress,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { callerNamed, type Scope } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import { type McpAdapter, type McpAdapterDeps, mcpAdapter } from "./mcp-adapter.ts";
import type { GivenAnswers } from "./questions.ts";

type Run = { id: string; principal: string; status: string; lastEvent: number; question?: string };
type Mode = "auto" | "legacy";

/**
 * The adapter over runs that a test ends, asked without a network. A caller is who `x-principal`
 * names, with the scopes of `x-scopes`.
 */
function served(more: Partial<McpAdapterDeps> = {}) {
  const all = new Map<string, Run>();
  const done: unknown[][] = [];
  const reported: unknown[] = [];
  const agents = [{ name: "echo", type: "agent", title: "Echo", description: "Echoes." }];
  const ended = new EventTarget();
  /** Wakes whoever waits for a run. */
  const tell = (id: string) => ended.dispatchEvent(new Event(id));
  const own = async (id: string, principal: string) => {
    const run = all.get(id);
    if (run?.principal === principal) return run;
    throw new AppError("not_found", `There is no run ${id}.`);
  };
  const runs = {
    own,
    async start(_: object, { message }: { message: { parts: { text: string }[] } }, principal: string) {
      const task = message.parts[0]?.text ?? "";
      if (task === "bug") throw new TypeError("a secret of ours");
      if (task === "busy") throw new AppError("quota_exceeded", "Enough for today.");
      const status = task === "ask" ? "input-required" : task === "wait" ? "running" : "completed";
      const run = { id: `r${all.size + 1}`, principal, status, lastEvent: 7, question: "Which?" };
      all.set(run.id, run);
      return run;
    },
    async settled(run: Run, signal: AbortSignal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (run.status !== "running" || signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve());
      ended.addEventListener(run.id, () => resolve(), { once: true });
      await promise;
      return run;
    },
    view: async ({ id, status, question }: Run) => ({
      ...{ id, name: "echo", status, question, files: [], input: "" },
      ...(status === "input-required" && { questionEvent: 5 }),
    }),
    async answer(
      id: string,
      message: { messageId: string; parts: { text: string }[] },
      principal: string,
      questionEvent?: number,
    ) {
      const run = await own(id, principal);
      done.push(["answer", id, message.messageId, message.parts[0]?.text, questionEvent]);
      Object.assign(run, { status: "completed", lastEvent: run.lastEvent + 1 });
      return run;
    },
    async cancel(id: string, principal: string, signal: AbortSignal) {
      const run = await own(id, principal);
      done.push(["cancel", id, signal.aborted]);
      run.status = "canceled";
      tell(id);
      return run;
    },
    async list({ cursor }: { cursor?: string }, principal: string) {
      done.push(["list", cursor, principal]);
      return { runs: Array.from({ length: 101 }, (_, n) => ({ ...all.get("r1"), id: `r${n}` })), nextCursor: "more" };
    },
  };
  const followed: { id: string; signal: AbortSignal; change(): void }[] = [];
  let notes = 0;
  const engine = {
    async *follow(id: string, { signal }: { signal: AbortSignal }) {
      let next = Promise.withResolvers<boolean>();
      signal.addEventListener("abort", () => next.resolve(false));
      followed.push({ id, signal, change: () => next.resolve(true) });
      while (!signal.aborted && (await next.promise)) {
        next = Promise.withResolvers();
        const event = { v: 1, type: "notice-given", kind: "stuck", text: `note ${++notes}` };
        yield { kind: "event", event };
      }
    },
  };
  const adapter = mcpAdapter({
    runs,
    engine,
    runnables: { all: () => agents, get: (name: string) => agents.find((one) => one.name === name) },
    artifacts: { get: async () => undefined },
    version: "1",
    report: (bug: unknown) => void reported.push(bug),
    identify: ({ headers }: Request) =>
      callerNamed(headers.get("x-principal") ?? "ann", (headers.get("x-scopes") ?? "read run").split(" ") as Scope[]),
    ...more,
  } as unknown as McpAdapterDeps);
  return { all, done, reported, agents, followed, adapter, tell };
}

const place = "http://agent.example/mcp";
async function connect(
  adapter: McpAdapter,
  { mode = "auto" as Mode, headers = {}, capabilities = {} as ClientCapabilities } = {},
) {
  const fetch = async (input: string | URL | Request, init?: RequestInit) =>
    adapter(new Request(input as Request, init)).catch(({ message, code }: AppError) =>
      Response.json({ message, code }, { status: 403 }),
    );
  const client = new Client({ name: "t", version: "1" }, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(place), { fetch, requestInit: { headers } }));
  return client;
}
const task = (text: string, more: object = {}) => ({ name: "echo", arguments: { task: text, ...more } });
const textOf = (result: { content?: unknown }) => (result.content as { text: string }[])[0]?.text;
const bothModes = test.each(["auto", "legacy"] as const);
async function until(holds: () => boolean) {
  while (!holds()) await Bun.sleep(1);
}

bothModes(
  "a client's mistake is told as such, ours without its text, and only a bug is reported (%s)",
  async (mode) => {
    const { adapter, reported } = served();
    const client = await connect(adapter, { mode });
    await expect(client.callTool({ name: "nobody", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^Unknown tool: nobody\. Known: echo.*, run_status, run_answer, run_cancel$/),
    });
    expect(await client.callTool(task("busy"))).toMatchObject({
      isError: true,
      content: [{ text: "Enough for today. (quota_exceeded)" }],
    });
    expect(await client.callTool({ name: "echo", arguments: {} })).toMatchObject({ isError: true });
    expect(reported).toEqual([]);
    const result = await client.callTool(task("bug"));
    expect([result.isError, textOf(result)?.includes("secret")]).toEqual([true, false]);
    expect(reported).toEqual([expect.any(TypeError)]);
    await client.close();
  },
);

test("a call waits as long as it says, an answer for ten minutes", async () => {
  const { adapter } = served();
  const client = await connect(adapter);
  using timers = spyOn(AbortSignal, "timeout");
  await client.callTool(task("x", { wait_seconds: 123 }));
  await client.callTool(task("ask"));
  await client.callTool({ name: "run_answer", arguments: { run_id: "r2", answer: "yes" } });
  const times = timers.mock.calls.map(([ms]) => ms);
  expect([123_000, 600_000].map((ms) => times.includes(ms))).toEqual([true, true]);
  expect(times.filter((ms) => ms === 600_000)).toHaveLength(2);
  await client.close();
});

test("the tools for runs act for their caller alone", async () => {
  const { adapter, all, done } = served();
  const [ann, bob] = await Promise.all(
    ["ann", "bob"].map((name) => connect(adapter, { headers: { "x-principal": name } })),
  );
  await ann?.callTool(task("ask"));
  const calls = [
    { name: "run_status", arguments: { run_id: "r1" } },
    { name: "run_answer", arguments: { run_id: "r1", answer: "yes" } },
    { name: "run_cancel", arguments: { run_id: "r1" } },
  ];
  for (const call of calls) expect(await bob?.callTool(call)).toMatchObject({ isError: true });
  expect([done, all.get("r1")?.principal]).toEqual([[], "ann"]);
  const results = [];
  for (const call of calls) results.push(await ann?.callTool(call));
  expect(results).toMatchObject(
    ["input-required", "completed", "canceled"].map((status) => ({ structuredContent: { status } })),
  );
  expect(done.map(([what]) => what)).toEqual(["answer", "cancel"]);
  await Promise.all([ann?.close(), bob?.close()]);
});

test("an answer that is repeated is one message to the run", async () => {
  const { adapter, done } = served();
  const client = await connect(adapter, { capabilities: { elicitation: { form: {} } } });
  const byHand = { allowInputRequired: true } as const;
  const asked = (await client.callTool(task("ask"), byHand)) as { requestState?: string };
  const inputResponses = { answer: { action: "accept", content: { answer: "yes" } } };
  const repeated = { ...task("ask"), requestState: asked.requestState, inputResponses } as never;
  await client.callTool(repeated, byHand);
  await client.callTool(repeated, byHand);
  expect(done).toEqual([1, 2].map(() => ["answer", "r1", "r1/answer/5", "yes", 5]));
  // Who can be asked is asked only by a run that asks.
  expect(await client.callTool(task("x"), byHand)).toMatchObject({ structuredContent: { status: "completed" } });
  await client.close();
});

bothModes("progress is counted for the call that wants it, and goes to the log of any other (%s)", async (mode) => {
  const { adapter, followed, all, tell } = served();
  const client = await connect(adapter, { mode });
  const seen: Progress[] = [];
  const logged: unknown[] = [];
  client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params.data));
  const end = (id: string) => {
    const run = all.get(id);
    if (run !== undefined) run.status = "completed";
    tell(id);
  };
  const call = client.callTool(task("wait"), { onprogress: (one) => void seen.push(one) });
  await until(() => followed.length === 1);
  for (const count of [1, 2]) {
    followed[0]?.change();
    await until(() => seen.length === count);
  }
  end("r1");
  await call;
  expect(seen.map(({ progress }) => progress)).toEqual([1, 2]);
  expect([seen[1]?.message?.includes("note 2"), logged]).toEqual([true, []]);
  const plain = client.callTool(task("wait"));
  await until(() => followed.length === 2);
  followed[1]?.change();
  if (mode === "legacy") await until(() => logged.length > 0);
  end("r2");
  await plain;
  expect(logged.map(String)).toEqual(mode === "legacy" ? [expect.stringContaining("note 3")] : []);
  await client.close();
});

test.each<[Mode, "cancel" | "leave", boolean]>([
  ["auto", "cancel", true],
  ["legacy", "cancel", true],
  ["legacy", "leave", false],
])("the run of a call of a client (%s) that ends by %s is canceled: %p", async (mode, how, isCanceled) => {
  const { adapter, done, all, tell, reported } = served();
  const client = await connect(adapter, { mode });
  const stop = new AbortController();
  const call = client.callTool(task("wait"), { signal: stop.signal });
  call.catch(() => undefined);
  await until(() => all.size === 1);
  if (how === "cancel") stop.abort("enough");
  else await client.close();
  if (isCanceled) await until(() => done.length > 0);
  else await Bun.sleep(20);
  // The signal of a call that is over would end its own canceling.
  expect(done).toEqual(isCanceled ? [["cancel", "r1", false]] : []);
  tell("r1");
  await client.close();
  expect(reported).toEqual([]);
});

test("a tool that is called directly gets what a person answered", async () => {
  const given: GivenAnswers[] = [];
  const tools = {
    list: () => [{ name: "bash", inputSchema: { type: "object" } }],
    has: (name: string) => name === "bash",
    async call(_: string, __: unknown, ___: object, answers: GivenAnswers) {
      given.push(answers);
      return { result: { content: [{ type: "text", text: "done" }] } };
    },
  };
  const { adapter } = served({ tools } as never);
  const client = await connect(adapter, { capabilities: { elicitation: { form: {} } } });
  const inputResponses = { allow: { action: "accept", content: { allow: true } } };
  await client.callTool({ name: "bash", arguments: {}, requestState: "code", inputResponses } as never);
  expect(given).toEqual([{ responses: inputResponses, state: "code" }]);
  await client.close();
});

test("a prompt that asks first gets what a person answered", async () => {
  const given: unknown[] = [];
  const prompts = {
    list: () => [],
    get: (...all: unknown[]) => {
      given.push(all);
      return { messages: [] };
    },
  };
  const { adapter } = served({ prompts } as never);
  const client = await connect(adapter, { capabilities: { elicitation: { form: {} } } });
  const inputResponses = { task: { action: "accept", content: { task: "Look." } } };
  await client.getPrompt({ name: "p", arguments: { a: "1" }, requestState: "s", inputResponses } as never);
  expect(given).toEqual([["p", { a: "1" }, { responses: inputResponses, state: "s" }]]);
  await client.close();
});

test("a subscriber is told of each change until it unsubscribes or leaves, and only in a session", async () => {
  const { adapter, followed, reported } = served();
  const client = await connect(adapter, { mode: "legacy" });
  const told: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
  const uri = "manyhands://runs/r1";
  await client.callTool(task("x"));
  const before = followed.length;
  await client.subscribeResource({ uri });
  await until(() => followed.length > before);
  const [first] = followed.slice(before);
  first?.change();
  await until(() => told.length === 1);
  // Subscribed anew, it is told once.
  await client.subscribeResource({ uri });
  expect(first?.signal.aborted).toBe(true);
  const second = followed.at(-1);
  await client.unsubscribeResource({ uri });
  expect(second?.signal.aborted).toBe(true);
  await client.subscribeResource({ uri });
  const third = followed.at(-1);
  expect(third?.signal.aborted).toBe(false);
  await expect(client.subscribeResource({ uri: "manyhands://runs/r9" })).rejects.toMatchObject({ code: -32602 });
  await (client.transport as StreamableHTTPClientTransport).terminateSession();
  await until(() => third?.signal.aborted === true);
  await client.close();
  expect(reported).toEqual([]);
  const modern = await connect(adapter);
  expect([modern.getServerCapabilities()?.resources, modern.getServerCapabilities()?.tools]).toEqual([
    { listChanged: false },
    { listChanged: true },
  ]);
  await modern.close();
});

test("a subscription that fails is a bug of ours, one that was left is none, and one that cannot be renewed stays", async () => {
  const turns: { yield(): void; fail(): void; signal: AbortSignal }[] = [];
  let isThere = true;
  /** Changes come when the test says, whether or not anybody still wants them. */
  async function* changes(signal: AbortSignal) {
    for (;;) {
      const next = Promise.withResolvers<void>();
      turns.push({ yield: () => next.resolve(), fail: () => next.reject(new Error("gone")), signal });
      await next.promise;
      yield {};
    }
  }
  const watch = async (_: string, __: string, signal: AbortSignal) => (isThere ? changes(signal) : undefined);
  const { adapter, reported } = served({ resources: { watch } } as never);
  const client = await connect(adapter, { mode: "legacy" });
  const told: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
  await client.subscribeResource({ uri: "a:left" });
  await client.unsubscribeResource({ uri: "a:left" });
  turns[0]?.yield();
  await until(() => turns.length === 2);
  turns[1]?.fail();
  await client.subscribeResource({ uri: "a:kept" });
  isThere = false;
  await expect(client.subscribeResource({ uri: "a:kept" })).rejects.toMatchObject({ code: -32602 });
  expect(turns[2]?.signal.aborted).toBe(false);
  turns[2]?.yield();
  await until(() => told.length > 0);
  expect([told, reported]).toEqual([["a:kept"], []]);
  turns[3]?.fail();
  await until(() => reported.length > 0);
  expect(reported).toEqual([new Error("gone")]);
  await client.close();
});

test("for who left while a subscription was being made nothing is watched", async () => {
  const gate = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const watch = async (_: string, __: string, signal: AbortSignal) => {
    signals.push(signal);
    await gate.promise;
    return (async function* () {})();
  };
  const { adapter, reported } = served({ resources: { watch } } as never);
  const client = await connect(adapter, { mode: "legacy" });
  const asked = client.subscribeResource({ uri: "a:x" }).catch(() => undefined);
  await until(() => signals.length === 1);
  await (client.transport as StreamableHTTPClientTransport).terminateSession();
  gate.resolve();
  await until(() => signals[0]?.aborted === true);
  await client.close();
  await asked;
  expect(reported).toEqual([]);
});

test("without a session nothing can be subscribed to, since nobody could be told", async () => {
  const { adapter, followed } = served();
  const params = { uri: "manyhands://runs/r1" };
  const asked = post(
    { jsonrpc: "2.0", id: 3, method: "resources/subscribe", params },
    { "mcp-protocol-version": "2025-06-18" },
  );
  expect(await (await adapter(asked)).text()).toContain("Changes are told in a session only");
  expect(followed).toEqual([]);
});

bothModes(
  "a call belongs to the conversation and the trace that it came with, its own word before its headers (%s)",
  async (mode) => {
    const asked: { contextId?: string; trace?: { traceparent: string } }[] = [];
    const runs = {
      start: async (_: object, one: object, principal: string) => {
        asked.push(one);
        return { id: "r1", principal, status: "completed", lastEvent: 0 };
      },
      settled: async (run: object) => run,
      view: async () => ({ id: "r1", name: "echo", status: "completed", files: [], input: "" }),
    };
    const traceOf = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
    const { adapter } = served({ runs } as never);
    const headers = { "Manyhands-Context": "ours", traceparent: traceOf("1") };
    const client = await connect(adapter, { mode, headers });
    await client.callTool(task("x"));
    await client.callTool({ ...task("x"), _meta: { traceparent: traceOf("2") } });
    expect(asked.map(({ contextId, trace }) => [contextId, trace?.traceparent])).toEqual([
      ["ours", traceOf("1")],
      ["ours", traceOf("2")],
    ]);
    await client.close();
  },
);

test("an answer goes to a run of one's own only, and what is not the client's fault is not told as such", async () => {
  const { adapter, done, all, reported } = served();
  const client = await connect(adapter, { capabilities: { elicitation: { form: {} } } });
  const bob = await connect(adapter, {
    capabilities: { elicitation: { form: {} } },
    headers: { "x-principal": "bob" },
  });
  const byHand = { allowInputRequired: true } as const;
  const inputResponses = { answer: { action: "accept", content: { answer: "yes" } } };
  await client.callTool(task("ask"), byHand);
  const answer = (requestState: string, more: object = { inputResponses }) =>
    ({ ...task("ask"), requestState, ...more }) as never;
  for (const state of ["r1", "r9"])
    await expect(bob.callTool(answer(state), byHand)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("The requestState names no run of yours."),
    });
  expect(done).toEqual([]);
  // Repeated without an answer, the call waits for the run as it is.
  expect(await client.callTool(answer("r1", {}), byHand)).toMatchObject({ requestState: "r1/5" });
  expect([done, all.size, reported]).toEqual([[], 1, []]);
  await Promise.all([client.close(), bob.close()]);
});

test("resources come a page at a time, a hundred completions of all that there are", async () => {
  const { adapter, done } = served();
  const client = await connect(adapter, { headers: { "x-principal": "bob" } });
  await client.request({ method: "resources/list", params: { cursor: "more" } });
  expect(done.at(-1)).toEqual(["list", "more", "bob"]);
  const ref = { type: "ref/resource", uri: "manyhands://runs/{run}" } as const;
  const { completion } = await client.complete({ ref, argument: { name: "run", value: "r" } });
  expect([completion.values.length, completion.total, completion.hasMore]).toEqual([100, 101, true]);
  expect(done.at(-1)).toEqual(["list", undefined, "bob"]);
  const uri = "manyhands://runs/r1";
  await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  await client.callTool(task("x"));
  expect((await client.readResource({ uri })).contents).toMatchObject([{ uri, mimeType: "application/json" }]);
  await client.close();
});

const post = (body: unknown, headers: Record<string, string> = {}) =>
  new Request(place, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const calling = { jsonrpc: "2.0", id: 1, method: "tools/call", params: task("x") };
const ping = { jsonrpc: "2.0", id: 2, method: "ping" };

test.each<[string, unknown, string, boolean]>([
  ["a call", calling, "read", false],
  ["a call among others", [ping, calling], "read", false],
  ["a question", ping, "read", true],
  ["a question of who may only run", ping, "run", false],
  ["a call of who may", calling, "read run", true],
])("%s needs the scope for it: %#", async (_, body, scopes, may) => {
  const { adapter, all } = served();
  const answer = adapter(post(body, { "x-scopes": scopes }));
  if (may) expect((await answer).status).toBeLessThan(500);
  else await expect(answer).rejects.toMatchObject({ code: "forbidden" });
  if (!may) expect(all.size).toBe(0);
});

test("a body that was read already is judged and answered like any other", async () => {
  const { adapter, all } = served();
  const read = async (message: object, headers?: Record<string, string>) => {
    const request = post(message, headers);
    return adapter(request, await request.json());
  };
  await expect(read(calling, { "x-scopes": "read" })).rejects.toMatchObject({ code: "forbidden" });
  expect(all.size).toBe(0);
  expect(await (await read(calling, { "mcp-protocol-version": "2025-06-18" })).text()).toContain("completed");
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const begun = await read({ ...ping, method: "initialize", params });
  expect([begun.status, begun.headers.has("mcp-session-id")]).toEqual([200, true]);
});

test("who comes after all others have left is told of changes too", async () => {
  const { adapter, agents } = served({ listMs: 5 });
  for (const name of ["more", "most"]) {
    let told = 0;
    const client = new Client(
      { name: "t", version: "1" },
      {
        versionNegotiation: { mode: "legacy" },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void told++ } },
      },
    );
    const fetch = async (input: string | URL | Request, init?: RequestInit) =>
      adapter(new Request(input as Request, init));
    const transport = new StreamableHTTPClientTransport(new URL(place), { fetch });
    await client.connect(transport);
    agents.push({ name, type: "agent", title: name, description: "More." });
    await until(() => told > 0);
    await transport.terminateSession();
    await client.close();
    // The next look finds nobody there.
    await Bun.sleep(20);
  }
});

test("a request has ten megabytes at most, and names its conversation in a few characters", async () => {
  const { adapter } = served();
  await expect(adapter(post(`"${"x".repeat(10 * 1024 * 1024)}"`))).rejects.toMatchObject({
    code: "too_large",
    message: "A request may have at most 10 MB",
  });
  await expect(adapter(post(ping, { "Manyhands-Context": "c".repeat(201) }))).rejects.toMatchObject({
    code: "invalid_input",
  });
});

test("what a client sends wrong is told to the client, and is no bug of ours", async () => {
  const { adapter, reported } = served();
  const modern = { "mcp-protocol-version": "2026-07-28" };
  for (const [body, headers, status] of [
    [ping, { "content-type": "text/plain" }, 415],
    [ping, { ...modern, "content-type": "" }, 415],
    ["{", modern, 400],
    [[], modern, 400],
    [{ ...ping, id: { a: 1 } }, modern, 400],
    [{ ...ping, jsonrpc: "1.0" }, modern, 400],
    [{ ...ping, method: "tools/nothing" }, { "mcp-protocol-version": "1999-01-01" }, 400],
  ] as const)
    expect([headers, (await adapter(post(body, headers))).status]).toEqual([headers, status]);
  const packed = adapter(post(ping, { "content-encoding": "gzip" }));
  await expect(packed).rejects.toMatchObject({ code: "unsupported" });
  expect(reported).toEqual([]);
});

test("a session is its principal's: another one is not let in, though it knows the id", async () => {
  const { adapter, all } = served();
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const begun = await adapter(post({ ...ping, method: "initialize", params }, { "x-principal": "ann" }));
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-06-18" };
  const bobs = await adapter(post(calling, { ...session, "x-principal": "bob" }));
  expect([bobs.status, all.size]).toEqual([404, 0]);
  expect((await adapter(post(calling, { ...session, "x-principal": "ann" }))).status).toBe(200);
});

bothModes("clients are told when agents come, once for each change, as long as they listen (%s)", async (mode) => {
  const { adapter, agents, reported } = served({ listMs: 5 });
  const fetch = async (input: string | URL | Request, init?: RequestInit) =>
    adapter(new Request(input as Request, init));
  let told = 0;
  let prompts = 0;
  const client = new Client(
    { name: "t", version: "1" },
    {
      versionNegotiation: { mode },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void told++ },
        prompts: { autoRefresh: false, debounceMs: 0, onChanged: () => void prompts++ },
      },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(place), { fetch }));
  await client.listTools();
  await Bun.sleep(20);
  expect([told, prompts]).toEqual([0, 0]);
  agents.push({ name: "more", type: "agent", title: "More", description: "More." });
  await until(() => told > 0 && prompts > 0);
  await Bun.sleep(30);
  expect([told, prompts, reported]).toEqual([1, 1, []]);
  await client.close();
});
