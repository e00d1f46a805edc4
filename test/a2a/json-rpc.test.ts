import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { eventually, rawRpc, rpc, textMessage } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

const send = async (text: string, over = {}, configuration?: object, user?: string) => {
  const answer = await rpc(server.url, "SendMessage", textMessage(text, over, configuration), user ? { user } : {});
  if (answer.body.result === undefined) throw new Error(JSON.stringify(answer.body));
  return answer.body.result.task;
};
const get = async (id: string, over = {}) => (await rpc(server.url, "GetTask", { id, ...over })).body;

test("a blocking send answers with the finished task, whose answer is its last artifact", async () => {
  const task = await send("answer forty-two");
  expect(task.status.state).toBe("TASK_STATE_COMPLETED");
  expect(task.artifacts.at(-1)).toMatchObject({ name: "answer", parts: [{ text: "forty-two" }] });
  expect(task.history).toHaveLength(1);
  expect(task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect((await get(task.id)).result).toEqual(task);
});

test("returnImmediately answers at once with a task that continues", async () => {
  const task = await send("wait 200", {}, { returnImmediately: true });
  expect(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]).toContain(task.status.state);
  const done = await eventually(async () => {
    const { result } = await get(task.id);
    return result.status.state === "TASK_STATE_COMPLETED" ? result : undefined;
  });
  expect(done.artifacts.at(-1).parts[0].text).toBe("waited");
});

test.each([
  ["no JSON", "{", -32700],
  ["no bytes", "", -32700],
  ["no UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), -32700],
  ["200,000 levels", "[".repeat(200_000) + "]".repeat(200_000), -32600],
  ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]', -32600],
  ["a string", '"hi"', -32600],
  ["no version of JSON-RPC", '{"id":1,"method":"GetTask"}', -32600],
  ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600],
  ["no method", '{"jsonrpc":"2.0","id":1}', -32600],
  ["an unknown method", '{"jsonrpc":"2.0","id":1,"method":"Guess"}', -32601],
  ["a method of Object", '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
  ["no params", '{"jsonrpc":"2.0","id":1,"method":"GetTask"}', -32602],
  ["params by position", '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":["x"]}', -32602],
] as const)("a body with %s gets the matching error code", async (_, body, code) => {
  const answer = await rawRpc(server.url, body as string, { "A2A-Version": "1.0" });
  expect(answer.status).toBe(200);
  expect(answer.body.error.code).toBe(code);
  expect(answer.body.jsonrpc).toBe("2.0");
  expect(answer.body.id).toBe(typeof body === "string" && body.startsWith('{"') && body.includes('"id":1') ? 1 : null);
});

test.each(["9007199254740993", "-123456789012345678901234567890", "1.5", '"9007199254740993"', "null"])(
  "the id %s comes back as it was written, with an answer, an error, a stream and a request that is none",
  async (id) => {
    const calls = [
      `"method":"ListTasks","params":{"id":7}`,
      `"method":"Guess"`,
      `"nothing":1`,
      `"method":"SendStreamingMessage","params":${JSON.stringify(textMessage("answer x"))}`,
    ];
    for (const call of calls) {
      const response = await fetch(server.url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
        body: `{"params":{"id":3},"jsonrpc":"2.0","id":${id},${call}}`,
      });
      expect(await response.text()).toContain(`"id":${id},`);
    }
  },
);

test("a body not declared as JSON is refused, even if it is JSON", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks" });
  expect((await rawRpc(server.url, body, { "Content-Type": "text/plain" })).body.error.code).toBe(-32005);
  expect((await rawRpc(server.url, body, { "Content-Type": "application/a2a+json" })).body.result).toBeDefined();
});

test("broken fields are named in a BadRequest beside the ErrorInfo", async () => {
  const { body } = await rpc(server.url, "SendMessage", {
    message: { messageId: "x", role: "ROLE_USER", parts: [{}] },
  });
  expect(body.error.code).toBe(-32602);
  expect(body.error.data[0]).toMatchObject({ reason: "INVALID_PARAMS", domain: "a2a-protocol.org" });
  expect(body.error.data[1]["@type"]).toBe("type.googleapis.com/google.rpc.BadRequest");
  expect(body.error.data[1].fieldViolations[0].field).toBe("message.parts.0");
});

test("ListTasks needs no params, and a repeated request id does not matter", async () => {
  const body = '{"jsonrpc":"2.0","id":"same","method":"ListTasks"}';
  const answers = await Promise.all([rawRpc(server.url, body), rawRpc(server.url, body)]);
  for (const answer of answers) {
    expect(answer.body.id).toBe("same");
    expect(answer.body.result).toMatchObject({ tasks: expect.any(Array), nextPageToken: expect.any(String) });
  }
});

test("a notification is carried out and not answered", async () => {
  const contextId = crypto.randomUUID();
  const params = textMessage("answer quietly", { contextId });
  const answer = await rawRpc(server.url, JSON.stringify({ jsonrpc: "2.0", method: "SendMessage", params }));
  expect(answer.status).toBe(204);
  expect((await rpc(server.url, "ListTasks", { contextId })).body.result.totalSize).toBe(1);
});

test("the version may have a patch digit, be in the query, or follow from a method only 1.0 has", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} });
  expect((await rawRpc(server.url, body, { "A2A-Version": "1.0.1" })).body.result).toBeDefined();
  expect((await rawRpc(`${server.url}/?A2A-Version=1.0`, body)).body.result).toBeDefined();
  expect((await rawRpc(server.url, body)).body.result).toBeDefined();
  expect((await rawRpc(server.url, body, { "A2A-Version": "2.0" })).body.error.code).toBe(-32009);
  expect((await rawRpc(server.url, body, { "A2A-Version": "0.3" })).body.error.code).toBe(-32601);
});

test("known extensions are echoed, unknown ones ignored", async () => {
  const headers = { "A2A-Extensions": "urn:else:1, urn:manyhands:journal:1" };
  const answer = await rpc(server.url, "ListTasks", {}, { headers });
  expect(answer.headers.get("A2A-Extensions")).toBe("urn:manyhands:journal:1");
  expect((await rpc(server.url, "ListTasks", {})).headers.get("A2A-Extensions")).toBeNull();
});

test("the same message sent twice at once is one task, and both callers get it", async () => {
  const params = textMessage("wait 50");
  const answers = await Promise.all(Array.from({ length: 8 }, () => rpc(server.url, "SendMessage", params)));
  const ids = new Set(answers.map(({ body }) => body.result.task.id));
  expect(ids.size).toBe(1);
  const later = await rpc(server.url, "SendMessage", params);
  expect(later.body.result.task.id).toBe([...ids][0]);
});

test("a question is answered on the same task, once, however often the answer is sent", async () => {
  const asked = await send("ask Which colour?");
  expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  expect(asked.status.message.parts[0].text).toBe("Which colour?");
  const { message } = textMessage("blue", { taskId: asked.id });
  const first = await rpc(server.url, "SendMessage", { message });
  expect(first.body.result.task.id).toBe(asked.id);
  expect(first.body.result.task.contextId).toBe(asked.contextId);
  expect(first.body.result.task.artifacts.at(-1).parts[0].text).toBe("heard blue");
  expect(first.body.result.task.history.map((m: { role: string }) => m.role)).toEqual([
    "ROLE_USER",
    "ROLE_AGENT",
    "ROLE_USER",
  ]);
  const again = await rpc(server.url, "SendMessage", { message });
  expect(again.body.result.task).toEqual(first.body.result.task);
  const other = await rpc(server.url, "SendMessage", { message: { ...message, parts: [{ text: "red" }] } });
  expect(other.body.error.code).toBe(-32602);
});

test("messages to a running task are kept and read at its next step, each once", async () => {
  const task = await send("listen", {}, { returnImmediately: true });
  const words = ["one", "two", "three"];
  for (const word of words) {
    const said = await send(word, { taskId: task.id, contextId: task.contextId }, { returnImmediately: true });
    expect(said.id).toBe(task.id);
  }
  const done = await send("done", { taskId: task.id });
  expect(done.artifacts.at(-1).parts[0].text).toBe("one,two,three,done");
  expect(done.history).toHaveLength(5);
});

test("a message to a task that has ended, is unknown, or has another context is refused", async () => {
  const ended = await send("answer x");
  const told = async (over: object) => (await rpc(server.url, "SendMessage", textMessage("more", over))).body.error;
  const to = async (over: object) => (await told(over)).code;
  expect(await to({ taskId: ended.id })).toBe(-32004);
  expect(await told({ taskId: "none" })).toMatchObject({ code: -32001, message: "There is no task none." });
  const open = await send("ask ?");
  expect(await to({ taskId: open.id, contextId: "else" })).toBe(-32602);
});

test("another caller's task looks like one that never existed", async () => {
  const task = await send("ask ?", {}, undefined, "alice");
  const missing = crypto.randomUUID();
  const calls = (id: string) => [
    rpc(server.url, "GetTask", { id }, { user: "mallory" }),
    rpc(server.url, "CancelTask", { id }, { user: "mallory" }),
    rpc(server.url, "SubscribeToTask", { id }, { user: "mallory" }),
    rpc(server.url, "SendMessage", textMessage("hi", { taskId: id }), { user: "mallory" }),
  ];
  const [foreign, unknown] = await Promise.all([Promise.all(calls(task.id)), Promise.all(calls(missing))]);
  foreign.forEach(({ body }, i) => {
    expect(body.error.code).toBe(-32001);
    expect(JSON.stringify(body).replaceAll(task.id, missing)).toBe(JSON.stringify(unknown[i]?.body));
  });
  const listed = await rpc(server.url, "ListTasks", {}, { user: "mallory" });
  expect(listed.body.result.tasks.map(({ id }: { id: string }) => id)).not.toContain(task.id);
});

test("a conversation is its principal's: the same contextId of two principals is two conversations", async () => {
  const contextId = crypto.randomUUID();
  const say = (user: string, messageId = crypto.randomUUID()) =>
    rpc(server.url, "SendMessage", textMessage("answer yes", { contextId, messageId }), { user });
  const messageId = crypto.randomUUID();
  const [anns, bobs] = [await say("ann", messageId), await say("bob", messageId)];
  expect(bobs.body.result.task).toMatchObject({ contextId, status: { state: "TASK_STATE_COMPLETED" } });
  expect(bobs.body.result.task.id).not.toBe(anns.body.result.task.id);
  await say("bob");
  for (const [user, size] of [
    ["ann", 1],
    ["bob", 2],
  ] as const)
    expect((await rpc(server.url, "ListTasks", { contextId }, { user })).body.result.totalSize).toBe(size);
});

test("ListTasks pages through the caller's tasks, newest first, filtered, without artifacts unless asked", async () => {
  const user = crypto.randomUUID();
  const contextId = crypto.randomUUID();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push((await send(`answer ${n}`, n < 3 ? { contextId } : {}, undefined, user)).id);
  const asked = await send("ask ?", {}, undefined, user);
  const list = async (params: object) => (await rpc(server.url, "ListTasks", params, { user })).body.result;

  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await list({ pageSize: 2, pageToken });
    expect(page.totalSize).toBe(6);
    expect(page.pageSize).toBe(2);
    seen.push(...page.tasks.map(({ id }: { id: string }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(seen).toEqual([asked.id, ...ids.toReversed()]);

  expect((await list({ contextId })).tasks).toHaveLength(3);
  expect((await list({ status: "TASK_STATE_INPUT_REQUIRED" })).tasks.map(({ id }: { id: string }) => id)).toEqual([
    asked.id,
  ]);
  expect((await list({ status: "TASK_STATE_COMPLETED" })).tasks).toHaveLength(5);
  expect((await list({ status: "TASK_STATE_REJECTED" })).tasks).toHaveLength(0);
  const [newest] = (await list({ pageSize: 1 })).tasks;
  // Tasks may end within one millisecond.
  const { timestamp } = newest.status;
  const all: { id: string; status: { timestamp: string } }[] = (await list({})).tasks;
  const since = all.filter(({ status }) => status.timestamp >= timestamp).map(({ id }) => id);
  const after = (await list({ statusTimestampAfter: timestamp })).tasks;
  expect(after.map(({ id }: { id: string }) => id)).toEqual(since);
  expect(newest.artifacts).toBeUndefined();
  expect((await list({ contextId, includeArtifacts: true })).tasks[0].artifacts).toHaveLength(1);
  expect((await list({ historyLength: 0 })).tasks[0].history).toBeUndefined();
  expect((await rpc(server.url, "ListTasks", { pageToken: "bogus" }, { user })).body.error.code).toBe(-32602);
});

test("a task is listed under the state it shows, even if paused", async () => {
  const home = await mkdtemp(join(tmpdir(), "a2a-states-"));
  let agent = await startAgentServer({ home });
  const begin = async (text: string) =>
    (await rpc(agent.url, "SendMessage", textMessage(text, {}, { returnImmediately: true }))).body.result.task.id;
  const states = async (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await rpc(agent.url, "GetTask", { id })).body.result.status.state));
  try {
    const paused = await begin("ask ?");
    await eventually(async () => (await agent.engine.get(paused))?.status === "waiting" || undefined);
    await agent.stop();
    // Its journal is now that of other code, which pauses the run.
    using db = new Database(join(home, "runs.db"));
    db.run("UPDATE journal SET name = 'another'");
    agent = await startAgentServer({ home });
    const reply = textMessage("yes", { taskId: paused }, { returnImmediately: true });
    await rpc(agent.url, "SendMessage", reply);
    await eventually(async () => (await agent.engine.get(paused))?.status === "paused" || undefined);
    const texts = ["ask ?", "authorize", "wait 60000", "answer x", "fail task_failed", "fail rejected"];
    const ids = [paused, ...(await Promise.all(texts.map(begin)))];
    const shown = ["WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED", "WORKING", "COMPLETED", "FAILED", "REJECTED"];
    const wanted = shown.map((state) => `TASK_STATE_${state}`);
    await eventually(async () => Bun.deepEquals(await states(ids), wanted) || undefined);
    for (const status of new Set(wanted)) {
      const { tasks } = (await rpc(agent.url, "ListTasks", { status })).body.result;
      const listed = tasks.map(({ id }: { id: string }) => id);
      expect([status, listed.toSorted()]).toEqual([status, ids.filter((_, n) => wanted[n] === status).toSorted()]);
    }
  } finally {
    await agent.stop();
    await rm(home, { recursive: true });
  }
});

test("historyLength limits the messages in a response", async () => {
  const task = await send("answer x", {}, { historyLength: 0 });
  expect(task.history).toBeUndefined();
  expect((await get(task.id, { historyLength: 1 })).result.history).toHaveLength(1);
  expect((await get(task.id, { historyLength: -1 })).error.code).toBe(-32602);
});

test("cancelling ends a task that runs, waits or ignores it; twice is harmless; after another end it is refused", async () => {
  for (const text of ["wait 60000", "ask ?", "stubborn 300"]) {
    const task = await send(text, {}, { returnImmediately: true });
    await eventually(async () =>
      (await get(task.id)).result.status.state === "TASK_STATE_SUBMITTED" ? undefined : true,
    );
    const canceled = await rpc(server.url, "CancelTask", { id: task.id });
    expect(canceled.body.result.status.state).toBe("TASK_STATE_CANCELED");
    const again = await rpc(server.url, "CancelTask", { id: task.id });
    expect(again.body.result).toEqual(canceled.body.result);
  }
  const ended = await send("answer x");
  expect((await rpc(server.url, "CancelTask", { id: ended.id })).body.error.code).toBe(-32002);
  expect((await rpc(server.url, "CancelTask", { id: "none" })).body.error.code).toBe(-32001);
});

test("a failure has its message and code, a refusal is rejected, a bug reveals nothing", async () => {
  const failed = await send("fail cost_limit");
  expect(failed.status.state).toBe("TASK_STATE_FAILED");
  expect(failed.status.message.parts[0].text).toBe("It cannot be done");
  expect((await send("fail rejected")).status.state).toBe("TASK_STATE_REJECTED");
  const bug = await send("bug");
  expect(bug.status.state).toBe("TASK_STATE_FAILED");
  expect(JSON.stringify(bug)).not.toContain("secrets");
});

test("files arrive as bytes and are returned by URL; a long text is stored as a file", async () => {
  const bytes = new TextEncoder().encode("name,age\nann,7\n");
  const parts = [
    { text: "file out.csv" },
    { raw: Buffer.from(bytes).toString("base64"), filename: "../../in.csv", mediaType: "text/csv" },
  ];
  const task = await send("", { parts });
  const part = task.artifacts[0].parts[0];
  expect(part).toMatchObject({ filename: "out.csv", mediaType: "text/csv" });
  expect(part.url).toStartWith(`${server.url}/artifacts/`);
  expect(new Uint8Array(await (await fetch(part.url)).arrayBuffer())).toEqual(bytes);
  expect(task.history[0].parts[1].filename).toBe("in.csv");

  const half = { text: "x".repeat(150_000) };
  const long = await send("", { parts: [{ text: "echo " }, half, half, { data: null }, { data: [half, half] }] });
  const kept = JSON.parse(long.artifacts[0].parts[0].text);
  expect(kept[1].type).toBe("text");
  expect(kept[2]).toMatchObject({ type: "file", name: "message.txt", size: 150_000 });
  expect(kept[3]).toEqual({ type: "data", data: null });
  expect(kept[4]).toMatchObject({ type: "file", name: "message.json", mediaType: "application/json" });
  const much = textMessage("answer x", { metadata: { note: half.text } });
  expect((await rpc(server.url, "SendMessage", much)).body.error.code).toBe(-32602);
});

test("keys like __proto__ and constructor travel through metadata as data", async () => {
  const text = JSON.stringify(textMessage("answer x", { metadata: { own: 1 } })).replace(
    '{"own":1}',
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  );
  const { body } = await rawRpc(server.url, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${text}}`);
  expect(JSON.stringify(body.result.task.history[0].metadata)).toBe(
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  );
  expect(Reflect.get({}, "polluted")).toBeUndefined();
});

test("operations the card does not offer are refused by name", async () => {
  const code = async (method: string, params: object) => (await rpc(server.url, method, params)).body.error.code;
  for (const verb of ["Create", "Get", "Delete"]) {
    expect(await code(`${verb}TaskPushNotificationConfig`, { taskId: "x", id: "y", url: "https://x.test" })).toBe(
      -32003,
    );
  }
  expect(await code("ListTaskPushNotificationConfigs", { taskId: "x" })).toBe(-32003);
  const push = { taskPushNotificationConfig: { url: "https://x.test" } };
  expect(await code("SendMessage", textMessage("answer x", {}, push))).toBe(-32003);
  expect(await code("GetExtendedAgentCard", {})).toBe(-32004);
});

test("budget and hops of a task are checked; a task that went through nine agents is refused", async () => {
  const withMetadata = async (metadata: object) =>
    (await rpc(server.url, "SendMessage", { ...textMessage("answer x"), metadata })).body;
  expect((await withMetadata({ "manyhands/budget": { usd: 0.5 }, "manyhands/hops": 8 })).result).toBeDefined();
  expect((await withMetadata({ "manyhands/hops": 9 })).error.code).toBe(-32004);
  expect((await withMetadata({ "manyhands/budget": { usd: "much" } })).error.code).toBe(-32602);
  expect((await withMetadata({ "manyhands/wait": 60_000 })).error.code).toBe(-32602);
});

test("a caller that disconnects while waiting does not affect the task", async () => {
  const params = textMessage("wait 150");
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
  const gone = fetch(server.url, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json" },
    signal: AbortSignal.timeout(50),
  });
  expect(gone).rejects.toThrow();
  await gone.catch(() => undefined);
  const { body: answer } = await rpc(server.url, "SendMessage", params);
  expect(answer.result.task.status.state).toBe("TASK_STATE_COMPLETED");
  expect(answer.result.task.history).toHaveLength(1);
});

test("an unauthenticated request gets a challenge, and nothing else", async () => {
  const answer = await rpc(server.url, "GetTask", { id: "x" }, { user: "nobody" });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("WWW-Authenticate")).toBe("Bearer");
  expect(answer.body.error.data[0].reason).toBe("UNAUTHORIZED");
});
