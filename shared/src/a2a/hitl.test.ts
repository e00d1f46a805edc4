import { expect, test } from "bun:test";
import { type AgentServerForTest, agentServerForTest } from "../testing/a2a/agent-server.ts";
import { hitlExtension } from "./extensions.ts";

const calls = [{ name: "str_replace_editor", args: { command: "create", path: "a.txt", file_text: "x" } }];
const writer = (replies: readonly object[] = [{ text: "Written." }]) =>
  agentServerForTest({
    script: [{ calls }, ...replies],
    approval: ({ name }) => (name === "str_replace_editor" ? "ask" : "allow"),
  });

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked into without a schema
type Wire = any;

async function call(url: string, method: string, params: object, headers: Record<string, string> = activated) {
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    headers: { "Content-Type": "application/json", ...headers },
  });
  const body: Wire = await response.json();
  return { headers: response.headers, error: body.error, task: body.result?.task ?? body.result };
}

const activated = { "A2A-Version": "1.0", "A2A-Extensions": hitlExtension };
const plain = { "A2A-Version": "1.0" };

function start({ url }: AgentServerForTest, headers?: Record<string, string>) {
  return call(
    url,
    "SendMessage",
    { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Go." }] } },
    headers,
  );
}

/** A message with this answer, as kagent's clients send it; `over` changes it. */
function respond(
  { url }: AgentServerForTest,
  taskId: string,
  response: object,
  over: object = {},
  headers = activated,
) {
  const message = {
    messageId: crypto.randomUUID(),
    taskId,
    role: "ROLE_USER",
    parts: [{ text: "Approved" }],
    extensions: [hitlExtension],
    metadata: { [hitlExtension]: response },
    ...over,
  };
  return call(url, "SendMessage", { message }, headers);
}

const approve = (id: string, more: object = {}) => ({
  type: "tool_approval_response",
  approvals: [{ id, approved: true, ...more }],
});
const requestIn = (task: Wire) => task.status.message.metadata[hitlExtension];
const fieldOf = (error: Wire) => JSON.stringify(error?.data ?? "");

test("the card declares the extension", async () => {
  await using agent = await writer();
  const card: Wire = await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json();
  expect(card.capabilities.extensions.map((one: Wire) => one.uri)).toContain(hitlExtension);
});

test("who activates the extension gets the call in question, and by its id allows that call", async () => {
  await using agent = await writer();
  const asked = await start(agent);
  expect(asked.headers.get("A2A-Extensions")).toBe(hitlExtension);
  const { status, id } = asked.task;
  expect(status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  expect(status.message.extensions).toEqual([hitlExtension]);
  const request = requestIn(asked.task);
  expect(request).toMatchObject({ type: "tool_approval_request", tools: [{ ...calls[0], args: calls[0]?.args }] });
  expect(Object.keys(request.tools[0]).sort()).toEqual(["args", "call_id", "id", "name"]);
  expect(status.message.parts[0].text).toContain(`yes ${request.tools[0].id}`);
  const done = await respond(agent, id, approve(request.tools[0].id));
  expect([done.task.status.state, done.task.artifacts[0].name]).toEqual(["TASK_STATE_COMPLETED", "a.txt"]);
});

test("a refusal makes no call, and its reason is told to the model, whatever it says", async () => {
  await using agent = await writer();
  const { task } = await start(agent);
  const [{ id }] = requestIn(task).tools;
  const no = { id, approved: false, rejection_reason: `yes ${id}` };
  const done = await respond(agent, task.id, { type: "tool_approval_response", approvals: [no] });
  expect([done.task.status.state, done.task.artifacts.map((one: Wire) => one.name)]).toEqual([
    "TASK_STATE_COMPLETED",
    ["answer"],
  ]);
  expect(JSON.stringify(agent.model.requests[1]?.body.messages.at(-1))).toContain(`The person said: no: yes ${id}`);
});

test("only an answer to exactly what is asked counts; any other is refused and the task goes on waiting", async () => {
  await using agent = await writer();
  const { task } = await start(agent);
  const [{ id }] = requestIn(task).tools;
  const yes = { id, approved: true };
  const others: readonly [string, object, object?, Record<string, string>?][] = [
    ["another call's id", approve("000000")],
    ["the id twice", { type: "tool_approval_response", approvals: [yes, yes] }],
    ["another call beside it", { type: "tool_approval_response", approvals: [yes, { id: "b", approved: true }] }],
    ["no id", { type: "tool_approval_response", approvals: [] }],
    ["no decision", { type: "tool_approval_response", approvals: [{ id }] }],
    ["an answer in words", { type: "ask_user_response", id, answers: [{ answer: [`yes ${id}`] }] }],
    ["another type", { type: "tool_approval", approvals: [yes] }],
    ["a message that does not declare it", approve(id), { extensions: [] }],
    ["a call that does not activate it", approve(id), {}, plain],
    ["no task", approve(id), { taskId: "" }],
  ];
  for (const [what, response, over, headers] of others) {
    const { error } = await respond(agent, task.id, response, over, headers as typeof activated);
    expect([what, error?.code]).toEqual([what, -32602]);
  }
  expect((await respond(agent, "nobody's", approve(id))).error.code).toBe(-32001);
  const waits = await call(agent.url, "GetTask", { id: task.id });
  expect(waits.task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  expect((await respond(agent, task.id, approve(id))).task.status.state).toBe("TASK_STATE_COMPLETED");
});

test("an answer sent again is the same answer; another one to a question that is over is refused", async () => {
  const ask = { calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] };
  await using agent = await writer([ask, { text: "Written." }]);
  const { task } = await start(agent);
  const [{ id }] = requestIn(task).tools;
  const first = { messageId: "decided" };
  const next = await respond(agent, task.id, approve(id), first);
  expect(requestIn(next.task).type).toBe("ask_user_request");
  expect((await respond(agent, task.id, approve(id), first)).task.id).toBe(task.id);
  const stale = await respond(agent, task.id, approve(id));
  expect([stale.error.code, fieldOf(stale.error)]).toEqual([-32602, expect.stringContaining("ask_user_response")]);
  expect(agent.model.requests).toHaveLength(2);
});

test("a question is asked and answered in words, in the extension's form or without it", async () => {
  const ask = { calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] };
  await using agent = await agentServerForTest({ script: [ask, ask, { text: "So be it." }] });
  const { task } = await start(agent);
  const request = requestIn(task);
  expect(request).toEqual({
    type: "ask_user_request",
    id: task.status.message.messageId,
    questions: [{ question: "Which year?", choices: [], multiple: false }],
  });
  const answers = [{ answer: ["2026", "or 2027"] }];
  const two = { type: "ask_user_response", id: request.id, answers: [...answers, ...answers] };
  expect((await respond(agent, task.id, two)).error.code).toBe(-32602);
  const again = await respond(agent, task.id, { ...two, answers });
  expect(JSON.stringify(agent.model.requests[1]?.body.messages.at(-1))).toContain("2026, or 2027");
  expect(requestIn(again.task).id).not.toBe(request.id);
  const words = { extensions: [], metadata: undefined, parts: [{ text: "2028" }] };
  expect((await respond(agent, task.id, {}, words)).task.status.state).toBe("TASK_STATE_COMPLETED");
  expect(JSON.stringify(agent.model.requests[2]?.body.messages.at(-1))).toContain("2028");
});

test("every reading of the task has the form for who activates it, A2A 0.3 included, and nobody else", async () => {
  await using agent = await writer();
  const { task } = await start(agent, plain);
  expect(task.status.message).not.toHaveProperty("metadata");
  const { id } = task;
  const legacy = { "X-A2A-Extensions": hitlExtension };
  const shown = {
    GetTask: (await call(agent.url, "GetTask", { id })).task,
    ListTasks: (await call(agent.url, "ListTasks", {})).task.tasks[0],
    "tasks/get": (await call(agent.url, "tasks/get", { id }, legacy)).task,
  };
  for (const [method, one] of Object.entries(shown))
    expect([method, requestIn(one).type]).toEqual([method, "tool_approval_request"]);
  const bare = [
    (await call(agent.url, "GetTask", { id }, plain)).task,
    (await call(agent.url, "ListTasks", {}, plain)).task.tasks[0],
    (await call(agent.url, "tasks/get", { id }, {})).task,
  ];
  for (const one of bare) expect(JSON.stringify(one)).not.toContain(hitlExtension);
});

test("a stream asks in the form of the extension as well", async () => {
  await using agent = await writer();
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Go." }] };
  const response = await fetch(agent.url, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message } }),
    headers: { "Content-Type": "application/json", ...activated },
  });
  const frames = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
  const last: Wire = JSON.parse(frames.at(-1)?.slice(6) ?? "{}").result.statusUpdate;
  expect(last.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  expect(requestIn(last).tools[0].name).toBe("str_replace_editor");
  expect(frames.slice(0, -1).join("")).not.toContain(hitlExtension);
});
