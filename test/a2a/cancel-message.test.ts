import { afterAll, beforeAll, expect, test } from "bun:test";
import { TaskState } from "@a2a-js/sdk";
import { type A2aClient, createA2aClient } from "manyhands/internal/a2a/client/client";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { rpc, textMessage, wire } from "./rpc.ts";

let server: AgentServer;
let client: A2aClient;
const as = (user: string) => createA2aClient(server.url, { headers: { "X-User": user } });
beforeAll(async () => {
  server = await startAgentServer();
  client = await as("alice");
});
afterAll(() => server.stop());

test("a message canceled before it arrived starts nothing when it arrives, and its sender gets the canceled task", async () => {
  const messageId = crypto.randomUUID();
  const canceled = await client.cancelMessage(messageId);
  expect(canceled?.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  for (let n = 0; n < 2; n++) {
    const { task } = await client.submit({ messageId, text: "answer x", contextId: "c-1", budget: { steps: 3 } });
    expect([task.id, task.status?.state]).toEqual([canceled?.id ?? "", TaskState.TASK_STATE_CANCELED]);
  }
  const events = (await server.engine.events(canceled?.id ?? "")).map(({ event }) => event.type);
  expect(events).toEqual(["message-received", "run-ended"]);
});

test("a message is canceled by its id, twice with the same answer; if its task has ended, the answer is that task", async () => {
  const messageId = crypto.randomUUID();
  const { task } = await client.submit({ messageId, text: "wait 60000" });
  for (let n = 0; n < 2; n++) {
    const canceled = await client.cancelMessage(messageId);
    expect([canceled?.id, canceled?.status?.state]).toEqual([task.id, TaskState.TASK_STATE_CANCELED]);
  }
  const done = await client.send({ messageId: "done-1", text: "answer x" });
  expect((await client.cancelMessage("done-1"))?.status).toEqual(done.status);
});

test("a message and its cancellation that arrive at the same time leave one task, which is canceled", async () => {
  for (let n = 0; n < 20; n++) {
    const messageId = crypto.randomUUID();
    const [sent, canceled] = await Promise.all([
      client.submit({ messageId, text: "wait 60000" }),
      client.cancelMessage(messageId),
    ]);
    expect(sent.task.id).toBe(canceled?.id ?? "");
    expect((await server.engine.get(sent.task.id))?.status).toBe("canceled");
  }
});

test("no caller can cancel another's message, sent or not", async () => {
  const messageId = crypto.randomUUID();
  const mallory = await as("mallory");
  await mallory.cancelMessage(messageId);
  const { task } = await client.submit({ messageId, text: "wait 60000" });
  await mallory.cancelMessage(messageId);
  expect((await server.engine.get(task.id))?.status).not.toBe("canceled");
  await client.cancel(task.id);
});

test("the card declares cancelling by message; both bindings accept it, and an invalid id is refused", async () => {
  expect(client.card.capabilities?.extensions.map(({ uri }) => uri)).toContain("urn:manyhands:cancel-message:1");
  const metadata = { "manyhands/messageId": "m-rest" };
  const canceled = await wire(
    fetch(`${server.url}/tasks/-:cancel`, {
      method: "POST",
      headers: { "A2A-Version": "1.0", "Content-Type": "application/json" },
      body: JSON.stringify({ metadata }),
    }),
  );
  expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
  const sent = await rpc(server.url, "SendMessage", {
    ...textMessage("answer x", { messageId: "m-rest" }),
  });
  expect(sent.body.result.task.id).toBe(canceled.id);
  const refused = await rpc(server.url, "CancelTask", { id: "-", metadata: { "manyhands/messageId": "" } });
  expect(refused.body.error.code).toBe(-32602);
  expect((await rpc(server.url, "CancelTask", { id: "-" })).body.error.code).toBe(-32001);
});
