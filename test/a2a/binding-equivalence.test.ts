import { afterAll, beforeAll, expect, test } from "bun:test";
import { createWebhooks } from "manyhands/internal/a2a/push/webhooks";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { type Binding, bindingsOf, type Method, type Outcome } from "./bindings.ts";
import { type GrpcClient, grpcClient } from "./grpc-client.ts";
import { textMessage, type Wire } from "./rpc.ts";

let server: AgentServer;
let client: GrpcClient;
beforeAll(async () => {
  server = await startAgentServer({ webhooks: createWebhooks({ allow: ["127.0.0.1"], deny: [], only: [] }) });
  client = grpcClient(server.grpc);
});
afterAll(async () => {
  client[Symbol.dispose]();
  await server.stop();
});

/** The outcomes of the same work over each binding, which are all the same. */
async function same(work: (call: Binding) => Promise<Outcome>): Promise<Outcome> {
  const outcomes: [string, Outcome][] = [];
  for (const [name, call] of Object.entries(bindingsOf(server, client))) outcomes.push([name, await work(call)]);
  const [[, first] = ["", undefined]] = outcomes;
  for (const outcome of outcomes) expect(outcome).toEqual([outcome[0], first]);
  return first;
}

const reads = (method: Method, params: Wire) => same((call) => call(method, params));

/**
 * Work of its own over each binding: ids and times differ, and are told apart only by the order in
 * which they come.
 */
const writes = (work: (call: Binding) => Promise<Outcome>) =>
  same(async (call) => {
    const ids = new Map<string, string>();
    const text = JSON.stringify(await work(call)).replace(
      /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
      (id) => ids.getOrInsertComputed(id, () => `id-${ids.size}`),
    );
    return JSON.parse(text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, "a time").replaceAll(server.url, "server"));
  });

const sent = async (call: Binding, ...message: Parameters<typeof textMessage>): Promise<Wire> =>
  (await call("SendMessage", textMessage(...message))).task;

test("a message is answered, and refused, the same over each binding", async () => {
  const file = { raw: Buffer.from("some bytes").toString("base64"), filename: "a.bin", mediaType: "image/png" };
  const data = { data: { list: [1, 2.5, null, { deep: true }], text: "é" }, metadata: { n: 1 } };
  const messages = [
    textMessage("answer yes"),
    textMessage("echo", { parts: [{ text: "echo" }, data, { url: "https://example.com/x", filename: "x" }] }),
    textMessage("file", { parts: [{ text: "file out" }, file], metadata: { key: "value" } }),
    textMessage("fail invalid_input"),
    textMessage("ask Who?", {}, { historyLength: 0 }),
    textMessage("bug"),
    textMessage("answer no", { taskId: "none" }),
    textMessage("answer no", { parts: [{}] }),
    textMessage("answer no", { role: "ROLE_AGENT" }),
    textMessage("answer no", { messageId: "" }),
    {},
  ];
  for (const message of messages) {
    const outcome = await writes((call) => call("SendMessage", structuredClone(withOwnId(message))));
    expect(outcome).toBeDefined();
  }
});

/** A message is another one over another binding. */
function withOwnId(params: Wire): Wire {
  if (params.message?.messageId?.length !== 36) return params;
  return { ...params, message: { ...params.message, messageId: crypto.randomUUID() } };
}

test("a conversation of several messages goes the same over each binding", async () => {
  const told = await writes(async (call) => {
    const asked = await sent(call, "ask Who?");
    const heard = await sent(call, "me", { taskId: asked.id });
    const ended = await call("SendMessage", textMessage("more", { taskId: asked.id }));
    const next = await sent(call, "answer next", { contextId: asked.contextId });
    const other = await call("SendMessage", textMessage("x", { taskId: next.id, contextId: "another" }));
    return [asked, heard, ended, next, other, await call("CancelTask", { id: asked.id })];
  });
  expect(told[2]).toEqual({ reason: "UNSUPPORTED_OPERATION", fields: false });
  expect(told[5]).toEqual({ reason: "TASK_NOT_CANCELABLE", fields: false });
});

test("a task is read the same over each binding, with every history length, and so are lists, page by page", async () => {
  const [call] = Object.values(bindingsOf(server, client));
  if (call === undefined) throw new Error("no binding");
  const asked = await sent(call, "ask Who?");
  await sent(call, "me", { taskId: asked.id });
  const { contextId } = asked;
  for (const text of ["answer 1", "answer 2", "fail internal"]) await sent(call, text, { contextId });
  for (const more of [{}, { historyLength: 0 }, { historyLength: 1 }, { historyLength: 100 }])
    expect(await reads("GetTask", { id: asked.id, ...more })).toMatchObject({ id: asked.id });
  const first = await reads("ListTasks", { contextId, pageSize: 2, includeArtifacts: true });
  expect(first.tasks).toHaveLength(2);
  const rest = await reads("ListTasks", { contextId, pageSize: 2, pageToken: first.nextPageToken });
  expect(rest.tasks).toHaveLength(2);
  expect((await reads("ListTasks", { contextId, status: "TASK_STATE_FAILED" })).tasks).toHaveLength(1);
  const statusTimestampAfter = asked.status.timestamp;
  expect((await reads("ListTasks", { contextId, statusTimestampAfter })).tasks).toHaveLength(4);
  expect((await reads("ListTasks", { contextId: "none" })).tasks ?? []).toEqual([]);
  for (const wrong of [{ pageSize: 0 }, { pageSize: 101 }, { historyLength: -1 }, { pageToken: "none" }])
    expect(await reads("ListTasks", wrong)).toMatchObject({ reason: expect.any(String) });
});

test("what is not there is not there over any binding", async () => {
  const params = { id: "none", taskId: "none", url: "http://127.0.0.1:1/hook" };
  const asked: Method[] = ["GetTask", "CancelTask", "SubscribeToTask", "CreateTaskPushNotificationConfig"];
  for (const method of [
    ...asked,
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
  ] as Method[])
    expect([method, await reads(method, params)]).toEqual([method, { reason: "TASK_NOT_FOUND", fields: false }]);
  expect(await reads("GetExtendedAgentCard", {})).toMatchObject({ reason: "UNSUPPORTED_OPERATION" });
});

test("streams tell the same over each binding, and so does a subscription to a task that has ended", async () => {
  for (const text of ["work 5", "ask Who?", "fail internal", "answer yes"])
    expect((await writes((call) => call("SendStreamingMessage", textMessage(text)))).length).toBeGreaterThan(1);
  const ended = await writes(async (call) => call("SubscribeToTask", { id: (await sent(call, "answer yes")).id }));
  expect(ended).toEqual({ reason: "UNSUPPORTED_OPERATION", fields: false });
  const watched = await writes(async (call) => {
    const { id } = await sent(call, "ask Who?");
    const watching = call("SubscribeToTask", { id });
    await sent(call, "me", { taskId: id });
    return (await watching).at(-1);
  });
  expect(watched.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
});

test("a task is canceled the same over each binding, with its receivers made, read, listed and removed", async () => {
  const told = await writes(async (call) => {
    const { id: taskId } = await sent(call, "wait 60000", {}, { returnImmediately: true });
    const url = "http://127.0.0.1:1/hook";
    const authentication = { scheme: "Bearer", credentials: "secret" };
    const made = await call("CreateTaskPushNotificationConfig", { taskId, id: "one", url, token: "t", authentication });
    const wrong = await call("CreateTaskPushNotificationConfig", { taskId, url: "ftp://127.0.0.1/" });
    const read = await call("GetTaskPushNotificationConfig", { taskId, id: "one" });
    const listed = await call("ListTaskPushNotificationConfigs", { taskId });
    const gone = [];
    for (let n = 0; n < 2; n++) gone.push(await call("DeleteTaskPushNotificationConfig", { taskId, id: "one" }));
    const none = await call("GetTaskPushNotificationConfig", { taskId, id: "one" });
    const { status, id } = await call("CancelTask", { id: taskId, metadata: { why: "enough" } });
    return { made, wrong, read, listed, gone, none, status, id };
  });
  expect(told.status.state).toBe("TASK_STATE_CANCELED");
  expect(told.listed.configs).toHaveLength(1);
  expect(told.read).toEqual(told.made);
});
