import { expect, test } from "bun:test";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import type { UserMessage } from "../../core/message.ts";
import type { ChatRequest } from "../../models/chat/chat-protocol.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { badAgentForTest, badArtifact, badTask } from "../../testing/a2a/bad-agent.ts";
import { until } from "../../testing/durable/until.ts";
import type { ScriptedReply } from "../../testing/models/scripted-model.ts";
import type { Fetch } from "../client/client-fetch.ts";
import { askAgent } from "./ask-agent.ts";

const create: ScriptedReply = {
  calls: [{ name: "str_replace_editor", args: { command: "create", path: "a.txt", file_text: "x" } }],
};
const question: ScriptedReply = { calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] };

/**
 * Plays these turns, then answers with what the user said and the last result, as the model reads
 * them.
 */
function then(...turns: readonly ScriptedReply[]) {
  return ({ messages }: ChatRequest, n: number): ScriptedReply => {
    const read = messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
    return turns[n] ?? { text: JSON.stringify([...read, messages.findLast(({ role }) => role === "tool")?.content]) };
  };
}

type Passing = { readonly url: string; readonly bounds?: object; readonly store?: string; readonly fetch?: Fetch };

/** Asks the agent and sends on what is said meanwhile; the run returns what arrived there too. */
function passing({ url, bounds = {}, store, fetch }: Passing) {
  return askerForTest(
    async (run, peers) => {
      const passed: UserMessage[] = [];
      const parts = [{ type: "text" as const, text: "Do it." }];
      const passedOn = (message: UserMessage) => void passed.push(message);
      const outcome = await askAgent(run, { agent: { name: "helper", url }, parts, hops: 0, passedOn }, peers);
      return { ...outcome, passed: passed.map((message) => message.parts) };
    },
    bounds,
    { ...(fetch && { fetch: () => fetch }), ...(store !== undefined && { store, isOwn: () => true }) },
  );
}

type Passed = AskOutcome & { readonly passed: readonly unknown[] };

test("what the user says while an agent works is read before the agent's next turn, each message once", async () => {
  await using helper = await agentServerForTest({ script: then({ ...create, delayMs: 1_500 }) });
  await using asker = await passing({ url: helper.url });
  const id = await asker.start();
  await until(async () => helper.model.requests.length === 1);
  await asker.say(id, "Make it red.");
  await asker.say(id, "And round.");
  const { answer, passed } = (await asker.until(id, "completed")).output as unknown as Passed;
  expect(JSON.parse(answer).slice(0, 3)).toEqual(["Do it.", "Make it red.", "And round."]);
  expect(passed).toEqual([[{ type: "text", text: "Make it red." }], [{ type: "text", text: "And round." }]]);
  const types = (await asker.events(id)).map(({ type }) => type);
  expect(types.filter((type) => type === "message-heard")).toHaveLength(2);
  expect(types.filter((type) => type === "agent-asked" || type === "agent-answered")).toHaveLength(2);
});

test("what is said while the agent writes its answer leads to another turn", async () => {
  await using helper = await agentServerForTest({ script: then({ text: "too early", delayMs: 1_500 }) });
  await using asker = await passing({ url: helper.url });
  const id = await asker.start();
  await until(async () => helper.model.requests.length === 1);
  await asker.say(id, "Wait.");
  const { answer } = (await asker.until(id, "completed")).output as unknown as Passed;
  expect(JSON.parse(answer).slice(0, 2)).toEqual(["Do it.", "Wait."]);
});

test("a quiet agent, whose asker waits without a body, gets what is said at once", async () => {
  await using helper = await agentServerForTest({ script: then({ ...create, delayMs: 4_000 }) });
  await using asker = await passing({ url: helper.url, bounds: { followMs: 200 }, store: helper.store });
  const id = await asker.start();
  await until(async () => helper.model.requests.length === 1);
  await asker.until(id, "waiting");
  await asker.say(id, "Make it red.");
  const { answer } = (await asker.until(id, "completed")).output as unknown as Passed;
  expect(JSON.parse(answer).slice(0, 2)).toEqual(["Do it.", "Make it red."]);
});

test("a message before a question does not answer it; it is sent on after the answer", async () => {
  await using helper = await agentServerForTest({ script: then(question, { ...create, delayMs: 500 }) });
  await using asker = await passing({ url: helper.url });
  const id = await asker.start();
  const { questionLock } = asker.peers;
  // Somebody else's question is open: this one waits for its turn.
  await questionLock.take(id, "other", 1_000, new AbortController().signal);
  questionLock.hold(id, "other");
  await until(async () => (await asker.events(id)).some(({ type }) => type === "agent-used"));
  await asker.say(id, "By the way");
  questionLock.leave(id, "other");
  await until(async () => (await asker.events(id)).some(({ type }) => type === "question-asked"));
  await asker.say(id, "2026");
  const { answer, passed, exchanges } = (await asker.until(id, "completed")).output as unknown as Passed;
  expect(exchanges).toMatchObject([{ question: expect.stringContaining("Which year?"), answer: [{ text: "2026" }] }]);
  expect(JSON.parse(answer).slice(0, 2)).toEqual(["Do it.", "By the way"]);
  expect(passed).toEqual([[{ type: "text", text: "By the way" }]]);
});

test("a message that arrives just as the agent asks does not answer what nobody has seen; it is sent on after the answer", async () => {
  await using helper = await agentServerForTest({
    script: then({ ...question, delayMs: 300 }, { ...create, delayMs: 300 }),
  });
  const states: string[] = [];
  // Slow on the way to the agent: by the time it arrives there, the question is open.
  const slow = async (url: string | URL | Request, init?: RequestInit) => {
    const sent = String(init?.body ?? "");
    if (sent.includes("By the way") && states.length === 0) {
      await until(async () => (await helper.tasks()).some(({ status }) => status === "waiting"));
      states.push("asking");
    }
    return fetch(url, init);
  };
  await using asker = await passing({ url: helper.url, fetch: slow });
  const id = await asker.start();
  await until(async () => helper.model.requests.length === 1);
  await asker.say(id, "By the way");
  await until(async () => (await asker.events(id)).some(({ type }) => type === "question-asked"));
  await asker.say(id, "2026");
  const { answer, passed, exchanges } = (await asker.until(id, "completed")).output as unknown as Passed;
  expect(states).toEqual(["asking"]);
  expect(exchanges).toMatchObject([{ question: expect.stringContaining("Which year?"), answer: [{ text: "2026" }] }]);
  expect(JSON.parse(answer).slice(0, 2)).toEqual(["Do it.", "By the way"]);
  expect(passed).toEqual([[{ type: "text", text: "By the way" }]]);
});

test("a message that an agent of another system refuses stays unread, and its task goes on", async () => {
  let looks = 0;
  const done = badTask("COMPLETED", { artifacts: [badArtifact({ text: "the answer" })] });
  using agent = badAgentForTest({}, {
    SendMessage: (params: { readonly message?: { readonly taskId?: string } }) => {
      if (params.message?.taskId) return { error: { code: -32004, message: "not while I work" } };
      return { task: badTask("WORKING") };
    },
    GetTask: () => (++looks > 4 ? done : badTask("WORKING")),
  } as never);
  await using asker = await passing({ url: agent.url });
  const id = await asker.start();
  await until(async () => looks > 0);
  await asker.say(id, "Make it red.");
  expect((await asker.until(id, "completed")).output).toMatchObject({ answer: "the answer", passed: [] });
  expect((await asker.events(id)).map(({ type }) => type)).not.toContain("message-heard");
});
