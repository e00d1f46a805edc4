import { afterAll, beforeAll, expect, test } from "bun:test";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { rpc, textMessage, type Wire } from "./rpc.ts";

let daily: AgentServer;
let brief: AgentServer;
let off: AgentServer;
beforeAll(async () => {
  [daily, brief, off] = await Promise.all([
    startAgentServer(),
    startAgentServer({ dedupeMs: 300 }),
    startAgentServer({ dedupeMs: 0 }),
  ]);
});
afterAll(() => Promise.all([daily.stop(), brief.stop(), off.stop()]));

const dedupe = { "A2A-Extensions": "urn:manyhands:dedupe:1" };
type Asked = { user?: string; headers?: Record<string, string> };

async function taskOf({ url }: AgentServer, params: object, asked: Asked = {}): Promise<Wire> {
  const { body } = await rpc(url, "SendMessage", params, asked);
  expect(body.error).toBeUndefined();
  return body.result.task;
}

test("within one conversation a messageId used again for another message is refused; another caller may use it", async () => {
  const { message } = textMessage("answer one", { contextId: crypto.randomUUID() });
  const first = await taskOf(daily, { message });
  for (const other of [{ parts: [{ text: "answer two" }] }, { metadata: { a: 1 } }]) {
    const { body } = await rpc(daily.url, "SendMessage", { message: { ...message, ...other } });
    expect(body.error.code).toBe(-32602);
  }
  expect((await taskOf(daily, { message })).id).toBe(first.id);
  const { contextId: _, ...free } = message as typeof message & { contextId: string };
  const foreign = await taskOf(daily, { message: free }, { user: "mallory" });
  expect(foreign.id).not.toBe(first.id);
});

test("a client that gives all its messages one id gets a task for each; the same message again is the newest task", async () => {
  const say = (text: string, over: object = {}) => ({
    message: textMessage(text, { messageId: "1", ...over }).message,
  });
  const one = await taskOf(daily, say("answer one"));
  const two = await taskOf(daily, say("answer two"));
  expect(two.artifacts[0].parts[0].text).toBe("two");
  expect((await taskOf(daily, say("answer two"))).id).toBe(two.id);
  const elsewhere = await taskOf(daily, say("answer two", { contextId: "another" }));
  expect(new Set([one.id, two.id, elsewhere.id]).size).toBe(3);
});

test("a message sent again after the window is a new task, except for a caller that asks for deduplication", async () => {
  const params = textMessage("answer x");
  const [first, kept] = [
    await taskOf(brief, params),
    await taskOf(brief, textMessage("answer y"), { headers: dedupe }),
  ];
  const again = { message: { ...kept.history[0], taskId: undefined, contextId: undefined } };
  await Bun.sleep(350);
  expect((await taskOf(brief, params)).id).not.toBe(first.id);
  expect((await taskOf(brief, again, { headers: dedupe })).id).toBe(kept.id);
});

test("with deduplication off every message is a new one, also on a task that has asked, or has ended", async () => {
  const params = textMessage("ask Which?");
  const [first, second] = await Promise.all([taskOf(off, params), taskOf(off, params)]);
  expect(first.id).not.toBe(second.id);
  const { message } = params;
  const answer = { message: { ...message, taskId: first.id } };
  const answered = await taskOf(off, answer);
  expect(answered.status.state).toBe("TASK_STATE_COMPLETED");
  expect(answered.history.map((entry: Wire) => entry.role)).toEqual(["ROLE_USER", "ROLE_AGENT", "ROLE_USER"]);
  expect((await rpc(off.url, "SendMessage", answer)).body.error.code).toBe(-32004);
});

test("with deduplication off a caller that asks for it has it: one task, and one content under its id", async () => {
  const params = textMessage("wait 50");
  const answers = await Promise.all(Array.from({ length: 8 }, () => taskOf(off, params, { headers: dedupe })));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  const other = { message: { ...params.message, parts: [{ text: "wait 51" }] } };
  const refused = await rpc(off.url, "SendMessage", other, { headers: dedupe });
  expect(refused.body.error.code).toBe(-32602);
  expect(refused.headers.get("A2A-Extensions") ?? "").toContain("urn:manyhands:dedupe:1");
});

test("our own client asks for it: what it sends again is one task, and what it canceled first starts nothing", async () => {
  const client = await createA2aClient(off.url);
  expect(client.card.capabilities?.extensions.map(({ uri }) => uri)).toContain("urn:manyhands:dedupe:1");
  const message = { messageId: crypto.randomUUID(), text: "answer x" };
  const [one, two] = await Promise.all([client.send(message), client.send(message)]);
  expect(two.id).toBe(one.id);
  const early = crypto.randomUUID();
  const canceled = await client.cancelMessage(early);
  expect((await client.submit({ messageId: early, text: "answer x" })).task.id).toBe(canceled?.id ?? "");
});

test("a task is canceled by its message's id with deduplication off too", async () => {
  const params = textMessage("wait 60000", {}, { returnImmediately: true });
  const task = await taskOf(off, params);
  const metadata = { "manyhands/messageId": params.message.messageId };
  const { body } = await rpc(off.url, "CancelTask", { id: "-", metadata });
  expect([body.result.id, body.result.status.state]).toEqual([task.id, "TASK_STATE_CANCELED"]);
});
