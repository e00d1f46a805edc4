import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { rpc, sseItems, textMessage, wire } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

const call = (path: string, init: RequestInit & { body?: string } = {}, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, {
    ...init,
    headers: { "A2A-Version": "1.0", "Content-Type": "application/json", ...headers },
  });
const post = (path: string, value?: unknown, headers?: Record<string, string>) =>
  call(path, { method: "POST", ...(value === undefined ? {} : { body: JSON.stringify(value) }) }, headers);

test("a task is sent, read, listed and cancelled over HTTP+JSON", async () => {
  const sent = await post("/message:send", textMessage("answer yes"));
  expect(sent.headers.get("Content-Type")).toBe("application/a2a+json");
  const { task } = await wire(sent);
  expect(task.artifacts.at(-1).parts[0].text).toBe("yes");
  expect(await wire(call(`/tasks/${task.id}`))).toEqual(task);
  expect((await wire(call(`/tasks/${task.id}?historyLength=0`))).history).toBeUndefined();
  const list = await wire(call("/tasks?pageSize=1&includeArtifacts=true"));
  expect(list).toMatchObject({ pageSize: 1, nextPageToken: expect.any(String), totalSize: expect.any(Number) });
  expect(list.tasks[0].artifacts).toHaveLength(1);
  expect((await wire(call("/tasks?contextId=none"))).tasks).toEqual([]);

  const open = await wire(post("/message:send", textMessage("ask ?")));
  const canceled = await wire(post(`/tasks/${open.task.id}:cancel`));
  expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
});

test("a stream over HTTP+JSON is bare StreamResponses with the journal's ids", async () => {
  const response = await post("/message:stream", textMessage("work 3"));
  expect(response.headers.get("Content-Type")).toStartWith("text/event-stream");
  const items = await Array.fromAsync(sseItems(response));
  expect(Object.keys(items[0]?.data as object)).toEqual(["task"]);
  const ids = items.map(({ id }) => id ?? 0);
  expect(ids).toEqual(ids.map((_, i) => (ids[0] ?? 0) + i));
  expect(items.at(-1)?.data).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
});

test.each(["GET", "POST"])("%s subscribes to a running task and is refused for an ended one", async (method) => {
  const { task } = await wire(post("/message:send", textMessage("wait 100", {}, { returnImmediately: true })));
  const items = await Array.fromAsync(sseItems(await call(`/tasks/${task.id}:subscribe`, { method })));
  expect(items[0]?.data).toMatchObject({ task: { id: task.id } });
  expect(items.at(-1)?.data).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  const ended = await call(`/tasks/${task.id}:subscribe`, { method });
  expect(ended.status).toBe(400);
  expect((await wire(ended)).error).toMatchObject({ code: 400, status: "FAILED_PRECONDITION" });
});

test.each([
  ["an unknown task", () => call("/tasks/none"), 404, "NOT_FOUND", "TASK_NOT_FOUND"],
  ["no version", () => call("/tasks", {}, { "A2A-Version": "" }), 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"],
  ["a page of 0", () => call("/tasks?pageSize=0"), 400, "INVALID_ARGUMENT", "INVALID_PARAMS"],
  ["no JSON", () => call("/message:send", { method: "POST", body: "{" }), 400, "INVALID_ARGUMENT", "INVALID_PARAMS"],
  [
    "text for JSON",
    () => post("/message:send", textMessage("answer x"), { "Content-Type": "text/plain" }),
    400,
    "INVALID_ARGUMENT",
    "CONTENT_TYPE_NOT_SUPPORTED",
  ],
  ["no message", () => post("/message:stream", {}), 400, "INVALID_ARGUMENT", "INVALID_PARAMS"],
  [
    "push",
    () => call("/tasks/x/pushNotificationConfigs"),
    400,
    "FAILED_PRECONDITION",
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
  ],
  ["the extended card", () => call("/extendedAgentCard"), 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"],
  ["no name", () => call("/tasks", {}, { "X-User": "nobody" }), 401, "UNAUTHENTICATED", "UNAUTHORIZED"],
] as const)("a request with %s is refused with status, name and reason", async (_, ask, code, status, reason) => {
  const response = await ask();
  expect(response.status).toBe(code);
  expect(response.headers.get("Content-Type")).toBe("application/a2a+json");
  const { error } = await wire(response);
  expect(error).toMatchObject({ code, status, message: expect.any(String) });
  expect(error.details[0]).toMatchObject({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason });
});

test("the same operation answers the same over both bindings", async () => {
  const { body } = await rpc(server.url, "SendMessage", textMessage("work 2"));
  const { id } = body.result.task;
  expect(await wire(call(`/tasks/${id}`))).toEqual((await rpc(server.url, "GetTask", { id })).body.result);
  const listed = (await rpc(server.url, "ListTasks", { pageSize: 3 })).body.result;
  expect(await wire(call("/tasks?pageSize=3"))).toEqual(listed);
});
