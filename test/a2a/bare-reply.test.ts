import { afterAll, beforeAll, expect, test } from "bun:test";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { bindingsOf } from "./bindings.ts";
import { type GrpcClient, grpcClient } from "./grpc-client.ts";
import { rpc, textMessage, type Wire } from "./rpc.ts";

let server: AgentServer;
let client: GrpcClient;
beforeAll(async () => {
  server = await startAgentServer();
  client = grpcClient(server.grpc);
});
afterAll(async () => {
  client[Symbol.dispose]();
  await server.stop();
});

const send = async (text: string, over?: object, configuration?: object): Promise<Wire> =>
  (await rpc(server.url, "SendMessage", textMessage(text, over, configuration))).body.result;

test("a mere reply is a message to who waits for it, over each binding", async () => {
  for (const [name, call] of Object.entries(bindingsOf(server, client))) {
    const { message, task } = await call("SendMessage", textMessage("reply hello", { contextId: `in ${name}` }));
    expect([name, task]).toEqual([name, undefined]);
    expect(message).toMatchObject({ contextId: `in ${name}`, role: "ROLE_AGENT", parts: [{ text: "hello" }] });
    expect(message.messageId).not.toBe("");
    expect(message.taskId ?? "").toBe("");
  }
});

test("a mere reply is a message in version 0.3, too", async () => {
  const message = { kind: "message", messageId: "old", role: "user", parts: [{ kind: "text", text: "reply hello" }] };
  const { body } = await rpc(server.url, "message/send", { message }, { headers: { "A2A-Version": "0.3" } });
  expect(body.result).toMatchObject({ kind: "message", role: "agent", parts: [{ kind: "text", text: "hello" }] });
});

test("who does not wait for a mere reply, or follows it, has its task, which is listed like any other", async () => {
  const { task } = await send("reply hello", {}, { returnImmediately: true });
  expect(task.id).not.toBe("");
  const { message } = await send("reply again", { contextId: task.contextId });
  const { tasks } = (await rpc(server.url, "ListTasks", { contextId: task.contextId, includeArtifacts: true })).body
    .result;
  expect(tasks).toHaveLength(2);
  expect(tasks.flatMap(({ artifacts }: Wire) => artifacts)).toContainEqual(
    expect.objectContaining({ artifactId: message.messageId, parts: message.parts }),
  );
  const [call] = Object.values(bindingsOf(server, client));
  const sent = await call?.("SendStreamingMessage", textMessage("reply hello"));
  expect(sent?.[0]).toHaveProperty("task");
});

test("a client gets a mere reply as a completed task with what it used", async () => {
  const agent = await createA2aClient(server.url);
  const { task, isReply } = await agent.submit({ text: "reply hello" }, { waitMs: 10_000 });
  expect(isReply).toBe(true);
  expect(task.metadata).toHaveProperty("manyhands/usage");
});
