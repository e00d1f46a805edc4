import { afterAll, beforeAll, expect, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import type { QuotaConfig } from "manyhands/internal/core/runs/quota";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { failureOf, grpcClient, grpcMessage } from "./grpc-client.ts";
import { eventually, rpc, textMessage, type Wire } from "./rpc.ts";

const quotas: QuotaConfig = {
  everybody: { runsAtOnce: 1 },
  named: {
    hasty: { requestsPerMinute: 2, runsAtOnce: 100 },
    thrifty: { tokensPerDay: 2, runsAtOnce: 100 },
    poor: { usdPerDay: 0 },
  },
};

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer({ quotas });
});
afterAll(() => server.stop());

const send = (text: string, user: string, over: object = {}) =>
  rpc(server.url, "SendMessage", textMessage(text, over, { returnImmediately: true }), { user });

async function taskOf(answer: ReturnType<typeof send>): Promise<Wire> {
  const { body } = await answer;
  expect(body.error).toBeUndefined();
  return body.result.task;
}

const infoOf = (details: Wire) => details.find((one: Wire) => one.reason !== undefined);

test("one run too many is refused over every binding, with its code and when to try again, and leaves nothing behind", async () => {
  const { id } = await taskOf(send("ask who?", "ann"));
  await eventually(async () => (await server.engine.get(id))?.status === "waiting" || undefined);
  const before = await server.engine.list({ principal: "ann", limit: 9 });
  const told = { code: "quota_exceeded", retryable: "true", retryAfter: "5" };
  for (const method of ["SendMessage", "SendStreamingMessage"]) {
    const { status: http, headers, body } = await rpc(server.url, method, textMessage("ask more?"), { user: "ann" });
    expect([method, http, headers.get("Retry-After"), body.error.code]).toEqual([method, 429, "5", -32603]);
    expect(infoOf(body.error.data)).toMatchObject({ reason: "QUOTA_EXCEEDED", metadata: told });
  }
  const message = { kind: "message", messageId: "old", role: "user", parts: [{ kind: "text", text: "ask more?" }] };
  const old = await rpc(server.url, "message/send", { message }, { user: "ann", headers: { "A2A-Version": "0.3" } });
  expect([old.status, old.headers.get("Retry-After"), old.body.error.code]).toEqual([429, "5", -32603]);

  const rest = await fetch(`${server.url}/message:send`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "A2A-Version": "1.0", "X-User": "ann" },
    body: JSON.stringify(textMessage("ask more?")),
  });
  const { error } = (await rest.json()) as Wire;
  expect([rest.status, rest.headers.get("Retry-After"), error.status]).toEqual([429, "5", "RESOURCE_EXHAUSTED"]);
  expect(infoOf(error.details)).toMatchObject({ metadata: told });

  using grpc = grpcClient(server.grpc);
  const metadata = { "x-user": "ann" };
  const failure = await failureOf(grpc.call("sendMessage", grpcMessage("ask more?"), { metadata }));
  expect(failure).toMatchObject({ code: status.RESOURCE_EXHAUSTED, reason: "QUOTA_EXCEEDED", retryAfter: "5" });

  expect(await server.engine.list({ principal: "ann", limit: 9 })).toEqual(before);
  await taskOf(send("ask who?", "bob"));
});

test("a message sent again and the answer to a running task are taken while no other run is; its end makes room", async () => {
  const messageId = crypto.randomUUID();
  const task = await taskOf(send("ask who?", "cleo", { messageId }));
  expect((await taskOf(send("ask who?", "cleo", { messageId }))).id).toBe(task.id);
  expect((await send("answer x", "cleo")).status).toBe(429);
  await eventually(async () => (await server.engine.get(task.id))?.status === "waiting" || undefined);
  await taskOf(send("me", "cleo", { taskId: task.id }));
  await eventually(async () => (await server.engine.get(task.id))?.status === "completed" || undefined);
  await taskOf(send("answer x", "cleo"));
});

test("the requests of a minute that make work are counted, those that only read are not", async () => {
  const { id } = await taskOf(send("answer 1", "hasty"));
  await taskOf(send("answer 2", "hasty"));
  const refused = await send("answer 3", "hasty");
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get("Retry-After"));
  expect(seconds > 0 && seconds <= 60).toBe(true);
  expect((await rpc(server.url, "GetTask", { id }, { user: "hasty" })).status).toBe(200);
});

test("what a principal has used today refuses its next run and its next message, but none it has sent before", async () => {
  const asking = await taskOf(send("ask who?", "thrifty"));
  const answered = await taskOf(send("ask who?", "thrifty"));
  await eventually(async () => (await server.engine.get(answered.id))?.status === "waiting" || undefined);
  const reply = { taskId: answered.id, messageId: crypto.randomUUID() };
  await taskOf(send("me", "thrifty", reply));
  const messageId = crypto.randomUUID();
  const { id } = await taskOf(send("draft some words", "thrifty", { messageId }));
  await eventually(async () => (await server.engine.get(id))?.status === "completed" || undefined);
  expect(await server.engine.usage("thrifty")).toMatchObject({ tokens: 2, runs: 1 });
  for (const over of [{}, { taskId: asking.id }]) {
    const refused = await send("draft more", "thrifty", over);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(refused.body.error.message).toContain("2 tokens a day");
  }
  expect((await taskOf(send("draft some words", "thrifty", { messageId }))).id).toBe(id);
  expect((await taskOf(send("me", "thrifty", reply))).id).toBe(answered.id);
  expect((await send("answer x", "poor")).body.error.message).toContain("0 US dollars a day");
});

test("the operator has no limits unless they are named", async () => {
  for (const text of ["ask a?", "ask b?", "ask c?"]) await taskOf(send(text, "local"));
});

test("what one of our servers asks for a principal is part of a run that counts already: no limit refuses it", async () => {
  await taskOf(send("ask who?", "dora"));
  expect((await send("ask who?", "dora")).status).toBe(429);
  for (const headers of [{ "Manyhands-Principal": "dora" }, { "Manyhands-Principal": "poor" }])
    await taskOf(rpc(server.url, "SendMessage", textMessage("answer x"), { headers }));
  expect((await server.engine.list({ principal: "dora", limit: 9 })).total).toBe(2);
  expect((await server.engine.usage("dora")).runs).toBe(1);
});
