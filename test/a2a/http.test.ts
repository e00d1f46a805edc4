import { afterAll, beforeAll, expect, test } from "bun:test";
import { AgentCard } from "@a2a-js/sdk";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { rpc, textMessage, wire } from "./rpc.ts";

const required = "https://example.com/required/v1";
const page = "https://app.example";
let server: AgentServer;
let strict: AgentServer;
let open: AgentServer;
beforeAll(async () => {
  [server, strict, open] = await Promise.all([
    startAgentServer(),
    startAgentServer({ requiredExtensions: [required, "urn:manyhands:journal:1"] }),
    startAgentServer({ cors: [page] }),
  ]);
});
afterAll(() => Promise.all([server, strict, open].map((one) => one.stop())));

const version = { "A2A-Version": "1.0", "Content-Type": "application/json" };
const sent = (text: string, over: object = {}) => ({
  method: "POST",
  headers: version,
  body: JSON.stringify(textMessage(text, over)),
});

test.each([
  ["GET", "/", "POST"],
  ["PUT", "/message:send", "POST"],
  ["GET", "/message:stream", "POST"],
  ["DELETE", "/tasks", "GET"],
  ["PATCH", "/tasks/x", "GET, DELETE"],
  ["PUT", "/tasks/x:subscribe", "GET, POST"],
  ["PUT", "/tasks/x/pushNotificationConfigs", "GET, POST"],
  ["POST", "/tasks/x/pushNotificationConfigs/y", "GET, DELETE"],
  ["POST", "/.well-known/agent-card.json", "GET"],
])("%s %s is refused with 405 and the methods there are: %s", async (method, path, allowed) => {
  const response = await fetch(`${server.url}${path}`, { method, headers: version });
  expect([response.status, response.headers.get("Allow")]).toEqual([405, allowed]);
  expect((await wire(response)).error.code).toBe(405);
});

test("a tenant in the path or among the parameters is taken, and tells no tasks apart", async () => {
  const { task } = await wire(fetch(`${server.url}/acme/message:send`, sent("answer x")));
  expect(task.status.state).toBe("TASK_STATE_COMPLETED");
  for (const path of ["", "/acme", "/other%20one"]) {
    expect((await wire(fetch(`${server.url}${path}/tasks/${task.id}`, { headers: version }))).id).toBe(task.id);
    const { tasks } = await wire(fetch(`${server.url}${path}/tasks`, { headers: version }));
    expect(tasks.map(({ id }: { id: string }) => id)).toContain(task.id);
  }
  const { body } = await rpc(server.url, "GetTask", { tenant: "acme", id: task.id });
  expect(body.result.id).toBe(task.id);
  const streamed = await fetch(`${server.url}/acme/message:stream`, sent("answer x"));
  expect(await streamed.text()).toContain("TASK_STATE_COMPLETED");
});

test("context ids of up to 1024 characters of any kind are conversations; a longer one is refused by name", async () => {
  const contextId = `${"/../é\u0000".repeat(100)}${"x".repeat(1024)}`.slice(0, 1024);
  const first = await rpc(server.url, "SendMessage", textMessage("answer x", { contextId }));
  expect(first.body.result.task).toMatchObject({ contextId, status: { state: "TASK_STATE_COMPLETED" } });
  const listed = await rpc(server.url, "ListTasks", { contextId });
  expect(listed.body.result.tasks).toHaveLength(1);
  const refused = await rpc(server.url, "SendMessage", textMessage("answer x", { contextId: `${contextId}y` }));
  expect(refused.body.error.code).toBe(-32602);
  expect(JSON.stringify(refused.body.error.data)).toContain("message.contextId");
});

test("a required extension is on the card; without it every call is refused, with it it is echoed; our client names it", async () => {
  const { capabilities } = AgentCard.fromJSON(await wire(fetch(`${strict.url}/.well-known/agent-card.json`)));
  expect(capabilities?.extensions.filter((one) => one.required).map(({ uri }) => uri)).toEqual([
    "urn:manyhands:journal:1",
    required,
  ]);
  const headers = { "A2A-Extensions": required };
  for (const asked of [{}, { headers }]) {
    const { body } = await rpc(strict.url, "SendMessage", textMessage("answer x"), asked);
    expect(body.error.code).toBe(-32008);
    expect((await rpc(strict.url, "ListTasks", {}, asked)).body.error.code).toBe(-32008);
    expect((await rpc(strict.url, "SendStreamingMessage", textMessage("x"), asked)).body.error.code).toBe(-32008);
  }
  const rest = await fetch(`${strict.url}/message:send`, sent("answer x"));
  expect([rest.status, (await wire(rest)).error.details[0].reason]).toEqual([400, "EXTENSION_SUPPORT_REQUIRED"]);
  const both = { "A2A-Extensions": `${required}, urn:manyhands:journal:1` };
  const answer = await rpc(strict.url, "SendMessage", textMessage("answer x"), { headers: both });
  expect(answer.body.result.task.status.state).toBe("TASK_STATE_COMPLETED");
  expect(answer.headers.get("A2A-Extensions")?.split(/, ?/).toSorted()).toEqual([required, "urn:manyhands:journal:1"]);
  const client = await createA2aClient(strict.url);
  expect((await client.send({ text: "answer x" })).artifacts).toHaveLength(1);
});

const preflight = (origin: string, path = "/message:send") =>
  fetch(`${open.url}${path}`, {
    method: "OPTIONS",
    headers: {
      Origin: origin,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "content-type,a2a-version,a2a-extensions,authorization,last-event-id",
    },
  });

test("a page of a listed site may call, resume and read the headers; one of another may not", async () => {
  for (const path of ["/", "/message:send", "/tasks/x"]) {
    const allowed = await preflight(page, path);
    expect([allowed.status, allowed.headers.get("Access-Control-Allow-Origin")]).toEqual([204, page]);
    const named = allowed.headers.get("Access-Control-Allow-Headers")?.toLowerCase() ?? "";
    for (const header of ["content-type", "a2a-version", "a2a-extensions", "authorization", "last-event-id"])
      expect(named).toContain(header);
  }
  const answer = await fetch(`${open.url}/message:send`, {
    ...sent("answer x"),
    headers: { ...version, Origin: page, "A2A-Extensions": "urn:manyhands:journal:1" },
  });
  expect([answer.status, answer.headers.get("Access-Control-Allow-Origin")]).toEqual([200, page]);
  expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("A2A-Extensions");
  expect(answer.headers.get("Vary")).toContain("Origin");
  const card = await fetch(`${open.url}/.well-known/agent-card.json`, { headers: { Origin: page } });
  expect(card.headers.get("Access-Control-Allow-Origin")).toBe(page);
  expect(card.headers.get("Vary")?.split(/, ?/).toSorted()).toEqual(["A2A-Version", "Origin"]);
  for (const refused of [await preflight("https://evil.example"), await preflight(`${page}.evil.example`)]) {
    expect(refused.headers.get("Access-Control-Allow-Origin")).toBeNull();
    expect(refused.status).toBe(403);
  }
});

test("without a list no page of another site is answered, and none is told that it may ask", async () => {
  const answer = await fetch(`${server.url}/message:send`, {
    ...sent("answer x"),
    headers: { ...version, Origin: page },
  });
  expect([answer.status, answer.headers.get("Access-Control-Allow-Origin")]).toEqual([403, null]);
});
