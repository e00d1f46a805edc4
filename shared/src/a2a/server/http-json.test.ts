import { expect, test } from "bun:test";
import { type StreamResponse, Task } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { callerNamed } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import { callFacts } from "./call-context.ts";
import { httpJsonApp, httpJsonMethodNotAllowed } from "./http-json.ts";
import type { RequestHandler } from "./request-handler.ts";

const task = (metadata: object = {}) => Task.fromJSON({ id: "t", contextId: "c", metadata });
const update = (seq: number): StreamResponse => ({
  payload: { $case: "task", value: task({ "manyhands/seq": seq }) },
});

/** The binding over a handler that answers everything, and what each operation was asked. */
function binding(over: object = {}) {
  const asked: [string, object][] = [];
  const contexts: ServerCallContext[] = [];
  const answering =
    <Answer>(name: string, answer: Answer) =>
    async (params: object, context: ServerCallContext) => {
      asked.push([name, params]);
      contexts.push(context);
      return answer;
    };
  const streaming = (name: string) =>
    async function* (params: object, context: ServerCallContext) {
      asked.push([name, params]);
      contexts.push(context);
      yield [update(3), update(4)];
      yield [update(5)];
    };
  const receiver = { tenant: "", taskId: "t", id: "r", url: "https://r.test", token: "", authentication: undefined };
  const handler = {
    getTask: answering("getTask", task()),
    cancelTask: answering("cancelTask", task()),
    deleteTask: answering("deleteTask", { tasks: 1 }),
    listTasks: answering("listTasks", { tasks: [task()], nextPageToken: "", pageSize: 1, totalSize: 1 }),
    createTaskPushNotificationConfig: answering("add", receiver),
    getTaskPushNotificationConfig: answering("get", receiver),
    listTaskPushNotificationConfigs: answering("list", { configs: [], nextPageToken: "" }),
    deleteTaskPushNotificationConfig: answering("remove", undefined),
    batches: { sendMessageStream: streaming("stream"), resubscribe: streaming("resubscribe") },
    ...over,
  } as unknown as RequestHandler;
  const report = () => undefined;
  const app = httpJsonApp({ handler, identify: async () => callerNamed("ann"), heartbeatMs: 60_000, report });
  const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    app.request(path, {
      method,
      headers: { "A2A-Version": "1.0", "Content-Type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  return { asked, contexts, send };
}
const failing = (error: unknown) => () => Promise.reject(error);

test("the path says which task and receiver are meant, whatever the body and the query say", async () => {
  const { asked, send } = binding();
  for (const [method, path, body] of [
    ["GET", "/tasks/mine?id=other&historyLength=2", undefined],
    ["POST", "/tasks/mine:cancel", { id: "other", metadata: { k: 1 } }],
    ["POST", "/tasks/mine:cancel", undefined],
    ["POST", "/tasks/mine:subscribe", undefined],
    ["DELETE", "/tasks/mine", undefined],
    ["POST", "/tasks/mine/pushNotificationConfigs", { taskId: "other", id: "r", url: "https://r.test" }],
    ["POST", "/tasks/mine/pushNotificationConfigs", { task_id: "other", id: "s", url: "https://s.test" }],
    ["GET", "/tasks/mine/pushNotificationConfigs?taskId=other", undefined],
    ["GET", "/tasks/mine/pushNotificationConfigs/r?id=other&taskId=other", undefined],
    ["DELETE", "/tasks/mine/pushNotificationConfigs/r", undefined],
  ] as const)
    expect([path, (await send(method, path, body)).status]).toEqual([path, 200]);
  const tenant = "";
  expect(asked).toEqual([
    ["getTask", { tenant, id: "mine", historyLength: 2 }],
    ["cancelTask", { tenant, id: "mine", metadata: { k: 1 } }],
    ["cancelTask", { tenant, id: "mine", metadata: undefined }],
    ["resubscribe", { id: "mine" }],
    ["deleteTask", { id: "mine" }],
    ["add", expect.objectContaining({ taskId: "mine", id: "r", url: "https://r.test" })],
    ["add", expect.objectContaining({ taskId: "mine", id: "s", url: "https://s.test" })],
    ["list", { tenant, pageSize: 0, pageToken: "", taskId: "mine" }],
    ["get", { tenant, taskId: "mine", id: "r" }],
    ["remove", { tenant, taskId: "mine", id: "r" }],
  ]);
});

test("a tenant before the path tells nothing apart", async () => {
  const { asked, send } = binding();
  expect((await send("GET", "/acme/tasks/mine")).status).toBe(200);
  expect(asked).toEqual([["getTask", { tenant: "", id: "mine" }]]);
});

test("a list has its artifacts if they were asked for, and empty lists are there", async () => {
  const { send } = binding();
  const listed = async (query: string) => (await send("GET", `/tasks${query}`)).json();
  expect(await listed("?includeArtifacts=true")).toMatchObject({ tasks: [{ id: "t", artifacts: [] }], totalSize: 1 });
  const plain = (await listed("")) as { readonly tasks: readonly object[] };
  expect(plain).toMatchObject({ nextPageToken: "", pageSize: 1 });
  expect(plain.tasks[0]).not.toHaveProperty("artifacts");
  expect(await (await send("GET", "/tasks/t/pushNotificationConfigs")).json()).toEqual({ configs: [] });
  expect(await (await send("DELETE", "/tasks/t/pushNotificationConfigs/r")).json()).toEqual({});
});

test("a parameter that is given twice is refused by name", async () => {
  const { asked, send } = binding();
  for (const [path, field] of [
    ["/tasks?status=TASK_STATE_WORKING&status=TASK_STATE_FAILED", "status"],
    ["/tasks?pageSize=1&page_size=2", "pageSize"],
    ["/tasks/t?historyLength=1&historyLength=1", "historyLength"],
    ["/tasks/t/pushNotificationConfigs?pageToken=a&pageToken=b", "pageToken"],
  ] as const) {
    const answer = await send("GET", path);
    expect([path, answer.status]).toEqual([path, 400]);
    const { error } = (await answer.json()) as { readonly error: { readonly details: readonly object[] } };
    const fieldViolations = [{ field, description: "may be given only once" }];
    expect(error.details).toContainEqual({ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations });
  }
  expect(asked).toEqual([]);
});

test("a stream is the updates with their places, and its end lets go", async () => {
  const { send, contexts } = binding();
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
  const answer = await send("POST", "/message:stream", { message });
  const text = await answer.text();
  expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id)).toEqual(["3", "4", "5"]);
  expect(text).toContain('data: {"task":{"id":"t"');
  expect(callFacts(contexts[0] as ServerCallContext).signal.aborted).toBe(true);
});

test("a stream that breaks off ends with an error event; one that breaks off at once is an ordinary error", async () => {
  const gone = new AppError("unavailable", "The store is gone.");
  async function* breaking(...updates: readonly StreamResponse[]) {
    for (const one of updates) yield [one];
    throw gone;
  }
  const { send } = binding({ batches: { resubscribe: () => breaking(update(3)) } });
  const text = await (await send("GET", "/tasks/t:subscribe")).text();
  expect(text.trim().split("\n\n").at(-1)).toMatch(/^event: error\ndata: \{"error":\{"code":503,/);
  const refusing = binding({ batches: { resubscribe: () => breaking() } });
  const atOnce = await refusing.send("GET", "/tasks/t:subscribe");
  expect([atOnce.status, atOnce.headers.get("Content-Type")]).toEqual([503, "application/a2a+json"]);
});

test.each([
  ["unavailable", 503, "UNAVAILABLE", "5"],
  ["rate_limited", 429, "RESOURCE_EXHAUSTED", null],
  ["forbidden", 403, "PERMISSION_DENIED", null],
  ["not_found", 404, "NOT_FOUND", null],
] as const)("a failure with the code %s is answered with %i", async (code, status, name, later) => {
  const { send } = binding({ getTask: failing(new AppError(code, "No.")) });
  const answer = await send("GET", "/tasks/t");
  expect([answer.status, answer.headers.get("Retry-After")]).toEqual([status, later]);
  expect(await answer.json()).toMatchObject({ error: { code: status, status: name, message: "No." } });
});

test("another version, a body that is no JSON and one that is no object are refused by name", async () => {
  const { send, asked } = binding();
  expect(await (await send("GET", "/tasks/t", undefined, { "A2A-Version": "0.3" })).json()).toMatchObject({
    error: { message: expect.stringContaining("version 1.0 only") },
  });
  for (const [path, body] of [
    ["/tasks/t:cancel", 5],
    ["/tasks/t/pushNotificationConfigs", [1]],
  ] as const)
    expect([path, (await send("POST", path, body as never)).status]).toEqual([path, 400]);
  expect(asked).toEqual([]);
});

test("a method that a path does not have is answered with those it has", async () => {
  const answer = httpJsonMethodNotAllowed(["GET", "POST"]);
  expect([answer.status, answer.headers.get("Allow")]).toEqual([405, "GET, POST"]);
  expect(await answer.json()).toMatchObject({ error: { code: 405, message: "This address takes GET, POST." } });
});
