import { afterAll, expect, test } from "bun:test";
import { cardSecurity } from "../../auth/security.ts";
import type { AgentProfile } from "../../core/agent.ts";
import { callerNamed, type Scope } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { createQuotas } from "../../runs/quotas.ts";
import { dedupeExtension, hitlExtension, journalExtension } from "../extensions.ts";
import type { PushInput } from "../push/push-run.ts";
import { type AgentAppDeps, agentApp } from "./agent-app.ts";

const engine = createEmbeddedEngine({ path: ":memory:" });
afterAll(() => engine.close({ graceMs: 0 }));

const definition: AgentProfile = { name: "swe", title: "Swe", description: "", version: "1", skills: [] };
const longest = 10 * 1024 * 1024;
const json = { "Content-Type": "application/json", "A2A-Version": "1.0" };

/** An agent whose caller is ann, with the scopes that the request names. */
function appOf(over: Partial<AgentAppDeps> = {}) {
  const app = agentApp({
    definition,
    facts: { publicUrl: "http://127.0.0.1:1" },
    engine,
    artifacts: createArtifactStore("/nonexistent"),
    identify: ({ headers }) => {
      if (headers.get("X-Scopes") === "none") throw new AppError("unauthorized", "Who are you?");
      return callerNamed("ann", headers.get("X-Scopes")?.split(" ") as Scope[] | undefined);
    },
    report: () => undefined,
    hostname: "0.0.0.0",
    webhooks: {
      admit: async (url) => {
        if (url.includes("inside")) throw new AppError("forbidden", "Not there.");
      },
      post: async () => undefined,
    },
    ...over,
  });
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    app.fetch(
      new Request(`http://127.0.0.1:1${path}`, {
        method,
        headers: { ...json, ...headers },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    );
}
const ask = appOf();

const message = (over: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Hi" }], ...over },
  configuration: { returnImmediately: true },
});
const started = async (over: object = {}) => {
  const { task } = (await (await ask("POST", "/message:send", message(over))).json()) as {
    task: { id: string; contextId: string };
  };
  return task;
};
const rpc = async (method: string, params: object, headers: Record<string, string> = {}, id: unknown = 1) =>
  ask("POST", "/", { jsonrpc: "2.0", id, method, params }, headers);
/** What a stream begins with; it is left then. */
async function first(answer: Response): Promise<string> {
  const reader = answer.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

const receiver = { id: "r", url: "https://r.example" };
const task = await started();
await ask("POST", `/tasks/${task.id}/pushNotificationConfigs`, receiver);

test.each<readonly [Scope, string, string, object | undefined]>([
  ["run", "POST", "/message:send", message()],
  ["run", "POST", "/message:stream", message()],
  ["read", "GET", "/tasks", undefined],
  ["read", "GET", `/tasks/${task.id}`, undefined],
  ["read", "GET", `/tasks/${task.id}:subscribe`, undefined],
  ["run", "POST", `/tasks/${task.id}/pushNotificationConfigs`, receiver],
  ["read", "GET", `/tasks/${task.id}/pushNotificationConfigs`, undefined],
  ["read", "GET", `/tasks/${task.id}/pushNotificationConfigs/r`, undefined],
  ["run", "DELETE", `/tasks/${task.id}/pushNotificationConfigs/r`, undefined],
  ["run", "POST", `/tasks/${task.id}:cancel`, undefined],
  ["run", "DELETE", `/tasks/${task.id}`, undefined],
])("the scope %s is what %s %s takes, besides the extensions that are required", async (scope, method, path, body) => {
  const other = scope === "run" ? "read" : "run";
  const refused = await ask(method, path, body, { "X-Scopes": other });
  expect([refused.status, refused.headers.get("WWW-Authenticate")]).toEqual([
    403,
    `Bearer error="insufficient_scope", scope="${scope}"`,
  ]);
  const unknown = await ask(method, path, body, { "X-Scopes": "none" });
  expect([unknown.status, unknown.headers.get("WWW-Authenticate")]).toEqual([401, "Bearer"]);
  const strict = appOf({ requiredExtensions: [journalExtension] });
  expect((await strict(method, path, body)).status).toBe(400);
  const allowed = await ask(method, path, body, { "X-Scopes": scope });
  expect(allowed.status).toBe(200);
  if (allowed.headers.get("Content-Type") === "text/event-stream") expect(await first(allowed)).toContain('"task":{');
});

test.each(["/message:send", "/message:stream", `/tasks/${task.id}/pushNotificationConfigs`, "/"])(
  "what is sent to %s is JSON of at most ten megabytes, and is checked",
  async (path) => {
    const body = path === "/" ? { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: task.id } } : message();
    const plain = await ask("POST", path, body, { "Content-Type": "text/plain" });
    expect([400, 415, 200]).toContain(plain.status);
    expect(await plain.text()).toContain("application/json");
    expect((await ask("POST", path, { ...body, long: "x".repeat(longest) })).status).toBe(413);
    const wrong = path === "/" ? { ...body, params: { id: 5 } } : { message: { role: "ROLE_AGENT" }, url: 5 };
    expect(await (await ask("POST", path, wrong)).text()).toMatch(/-32602|INVALID_ARGUMENT/);
  },
);

test("the card of a known caller takes the required extensions too, over either binding", async () => {
  const facts = { publicUrl: "http://127.0.0.1:1", security: cardSecurity() };
  const strict = appOf({ facts, requiredExtensions: [journalExtension] });
  const own = { jsonrpc: "2.0", id: 1, method: "GetExtendedAgentCard", params: {} };
  for (const [method, path, body] of [
    ["GET", "/extendedAgentCard", undefined],
    ["POST", "/", own],
  ] as const) {
    expect(await (await strict(method, path, body)).text()).toContain("EXTENSION_SUPPORT_REQUIRED");
    const shown = await strict(method, path, body, { "A2A-Extensions": journalExtension });
    expect(shown.headers.get("A2A-Extensions")).toBe(journalExtension);
    expect(await shown.text()).toContain("urn:manyhands:caller:1");
  }
});

test("a task that has not ended is not deleted: that is a conflict", async () => {
  const { id } = await started();
  const refused = await ask("DELETE", `/tasks/${id}`);
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining("has not ended")]);
  expect((await ask("GET", `/tasks/${id}`)).status).toBe(200);
});

test("an answer says which extensions are active, over both bindings, streamed or not", async () => {
  const headers = { "A2A-Extensions": journalExtension };
  const { id } = await started();
  for (const answer of [
    await ask("GET", "/tasks", undefined, headers),
    await ask("GET", `/tasks/${id}:subscribe`, undefined, headers),
    await rpc("GetTask", { id }, headers),
    await rpc("SubscribeToTask", { id }, headers),
  ]) {
    expect(answer.headers.get("A2A-Extensions")).toBe(journalExtension);
    await answer.body?.cancel();
  }
});

test("a task keeps its caller's trace, and a message goes on only in its own conversation", async () => {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const sent = await ask("POST", "/message:send", message(), { traceparent });
  const { task: traced } = (await sent.json()) as { task: { id: string; contextId: string } };
  expect((await engine.get(traced.id))?.input).toMatchObject({ trace: { traceparent } });
  const next = (contextId: string) => ask("POST", "/message:send", message({ taskId: traced.id, contextId }));
  expect((await next("another")).status).toBe(400);
  expect((await next(traced.contextId)).status).toBe(200);
});

test("a message of a kind that is not taken, or in a form that was not agreed on, starts nothing", async () => {
  const { total } = await engine.list({ limit: 1 });
  const kind = await ask("POST", "/message:send", message({ parts: [{ raw: "aGk=", mediaType: "no type" }] }));
  expect(kind.status).toBeGreaterThanOrEqual(400);
  for (const extensions of [[], [hitlExtension]]) {
    const answer = message({ taskId: task.id, extensions, metadata: { [hitlExtension]: {} } });
    expect(await (await ask("POST", "/message:send", answer)).text()).toContain("needs the extension");
  }
  const endless = { ...message(), metadata: { "manyhands/wait": 60_000 } };
  expect((await ask("POST", "/message:send", endless)).status).toBe(400);
  expect((await engine.list({ limit: 1 })).total).toBe(total);
});

test("what a task may spend is said beside the message, and not in it", async () => {
  const budget = { steps: 3 };
  const inputOf = async (body: object) => {
    const sent = (await (await ask("POST", "/message:send", body)).json()) as { task: typeof task };
    return (await engine.get(sent.task.id))?.input;
  };
  expect(await inputOf({ ...message(), metadata: { "manyhands/budget": budget } })).toMatchObject({ budget });
  expect(await inputOf(message({ metadata: { "manyhands/budget": budget } }))).not.toHaveProperty("budget");
});

test("a task that is canceled is told as canceled, and no other is by an address that goes on", async () => {
  const { id } = await started();
  expect((await ask("POST", `/tasks/${id}:x:cancel`)).status).toBe(404);
  expect((await engine.get(id))?.status).toBe("queued");
  const canceled = await (await ask("POST", `/tasks/${id}:cancel`)).json();
  expect(canceled).toMatchObject({ id, status: { state: "TASK_STATE_CANCELED" } });
});

test("over JSON-RPC too a caller is known by its request, and a field that is found wrong later is named", async () => {
  expect((await rpc("GetTask", { id: task.id }, { "X-Scopes": "none" })).status).toBe(401);
  const long = message({ metadata: { k: "x".repeat(64 * 1024) } });
  expect(JSON.stringify(await (await rpc("SendMessage", long)).json())).toContain('"field":"message.metadata"');
  const refused = await rpc("tasks/resubscribe", { id: task.id }, { "A2A-Version": "0.3", "X-Scopes": "run" });
  expect([refused.status, refused.headers.get("Content-Type")]).toEqual([
    403,
    expect.stringContaining("application/json"),
  ]);
  expect(await (await rpc("ListTasks", {}, {}, null)).json()).toMatchObject({ id: null, result: {} });
});

test("who has as many runs as allowed starts no other", async () => {
  const limited = appOf({ quotas: createQuotas({ everybody: { runsAtOnce: 1 } }) });
  const running = (await engine.list({ principal: "ann", limit: 100 })).runs;
  for (const { id } of running) await engine.cancel(id).catch(() => undefined);
  expect((await limited("POST", "/message:send", message())).status).toBe(200);
  const refused = await limited("POST", "/message:send", message());
  expect([refused.status, refused.headers.get("Retry-After") !== null]).toEqual([429, true]);
});

test("a receiver that is named with a message is admitted first and then told, in the sender's version", async () => {
  const asking = (url: string, messageId: string) => ({
    message: { messageId, role: "user", parts: [{ kind: "text", text: "Hi" }] },
    configuration: { blocking: false, pushNotificationConfig: { url } },
  });
  const legacy = { "A2A-Version": "0.3" };
  const { total } = await engine.list({ limit: 1 });
  const refused = await (await rpc("message/send", asking("https://inside.example", "p1"), legacy)).json();
  expect(refused).toMatchObject({ error: { message: expect.stringContaining("Not there.") } });
  expect((await engine.list({ limit: 1 })).total).toBe(total);
  const sent = (await (await rpc("message/send", asking("https://r.example", "p2"), legacy)).json()) as {
    result: { id: string; contextId: string };
  };
  const { id, contextId } = sent.result;
  const told = async () =>
    (await engine.list({ contextId: id, limit: 5 })).runs.map(({ input }) => {
      const { url, wire } = (input as PushInput).config;
      return `${url} ${wire}`;
    });
  expect(await told()).toEqual(["https://r.example 0.3"]);
  // So is one that is named with a task's next message.
  const taskPushNotificationConfig = { url: "https://s.example" };
  await ask("POST", "/message:send", {
    ...message({ taskId: id, contextId }),
    configuration: { returnImmediately: true, taskPushNotificationConfig },
  });
  expect((await told()).toSorted()).toEqual(["https://r.example 0.3", "https://s.example 1.0"]);
});

test("a receiver that is added later is admitted first too, and told in the version of who adds it", async () => {
  const { id } = await started();
  const inside = { url: "https://inside.example" };
  expect((await ask("POST", `/tasks/${id}/pushNotificationConfigs`, inside)).status).toBe(400);
  const config = { id: "old", url: "https://r.example" };
  const set = { taskId: id, pushNotificationConfig: config };
  await rpc("tasks/pushNotificationConfig/set", set, { "A2A-Version": "0.3" });
  await ask("POST", `/tasks/${id}/pushNotificationConfigs`, receiver);
  const { runs } = await engine.list({ contextId: id, limit: 5 });
  expect(
    runs
      .map(({ input }) => (input as PushInput).config)
      .map((one) => `${one.id} ${one.wire}`)
      .sort(),
  ).toEqual(["old 0.3", "r 1.0"]);
});

test("of a task as much is told as was asked for", async () => {
  const { id, contextId } = await started();
  await ask("POST", "/message:send", message({ taskId: id, contextId }));
  const history = async (answer: Response) => {
    const { task: sent, result, ...own } = (await answer.json()) as Record<string, Record<string, never>>;
    return ((sent ?? result ?? own).history as unknown as unknown[] | undefined)?.length ?? 0;
  };
  expect(await history(await ask("GET", `/tasks/${id}`))).toBe(2);
  expect(await history(await ask("GET", `/tasks/${id}?historyLength=1`))).toBe(1);
  const sent = { ...message({ taskId: id, contextId }), configuration: { returnImmediately: true, historyLength: 1 } };
  expect(await history(await ask("POST", "/message:send", sent))).toBe(1);
});

test("a caller whose messages are unique has one task for each, however late it comes again", async () => {
  const never = appOf({ dedupeMs: 0 });
  const twice = async (headers: Record<string, string>) => {
    const body = message();
    const ids = [];
    for (let n = 0; n < 2; n++) {
      const { task: one } = (await (await never("POST", "/message:send", body, headers)).json()) as {
        task: typeof task;
      };
      ids.push(one.id);
    }
    return new Set(ids).size;
  };
  expect([await twice({}), await twice({ "A2A-Extensions": dedupeExtension })]).toEqual([2, 1]);
});

test.each<readonly [string, number, unknown]>([
  ["[]", -32600, null],
  ["{", -32700, null],
  [`{"jsonrpc":"2.0","id":7,"method":"GetTask","params":${"[".repeat(101)}${"]".repeat(101)}}`, -32600, null],
  ['{"jsonrpc":"2.0","id":null,"method":"Guess"}', -32601, null],
  ['{"jsonrpc":"2.0","id":"a","method":"constructor"}', -32601, "a"],
  ['{"jsonrpc":"1.0","id":"a","method":"GetTask"}', -32600, "a"],
])("the request %s is refused with %i", async (body, code, id) => {
  const answer = await ask("POST", "/", body);
  expect(await answer.json()).toMatchObject({ id, error: { code } });
});

test("an id is answered as it was written, however large, and a request without one is carried out in silence", async () => {
  const body = `{"jsonrpc":"2.0","id":12345678901234567890,"method":"GetTask","params":{"id":"${task.id}"}}`;
  expect(await (await ask("POST", "/", body)).text()).toContain('"id":12345678901234567890');
  const { id, ...silent } = JSON.parse(body);
  const answer = await ask("POST", "/", silent);
  expect([typeof id, answer.status, await answer.text()]).toEqual(["number", 204, ""]);
  for (const [method, version] of [
    ["SendStreamingMessage", "1.0"],
    ["message/stream", "0.3"],
  ] as const) {
    const { message: sent } = message(version === "1.0" ? {} : { role: "user", parts: [{ kind: "text", text: "Hi" }] });
    const stream = { jsonrpc: "2.0", method, params: { message: sent } };
    const { total } = await engine.list({ limit: 1 });
    const started = await ask("POST", "/", stream, { "A2A-Version": version });
    expect([started.status, await started.text()]).toEqual([204, ""]);
    expect((await engine.list({ limit: 1 })).total).toBe(total + 1);
  }
});
