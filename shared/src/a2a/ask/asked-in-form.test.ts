import { expect, test } from "bun:test";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import { approvalCode } from "../../core/tools/approval.ts";
import { type AskerForTest, askerForTest } from "../../testing/a2a/asker.ts";
import { type BadAgent, badAgentForTest, badArtifact, badTask } from "../../testing/a2a/bad-agent.ts";
import { until } from "../../testing/durable/until.ts";
import { hitlExtension } from "../extensions.ts";
import { askAgent } from "./ask-agent.ts";
import { askedInForm } from "./asked-in-form.ts";

const tool = (id: string, name: string, args: object | null = {}) => ({ id, call_id: `call of ${id}`, name, args });
const done = badTask("COMPLETED", { artifacts: [badArtifact({ text: "the answer" })] });

/** An agent of another system that asks this once, in the form of the extension or in words. */
function agentThatAsks(request: object, extensions = [hitlExtension]): BadAgent {
  const message = {
    messageId: "q1",
    role: "ROLE_AGENT",
    parts: [{ text: "It needs your decision." }],
    extensions,
    metadata: { [hitlExtension]: request },
  };
  const asking = badTask("INPUT_REQUIRED");
  let isAnswered = false;
  return badAgentForTest(
    { extensions: [{ uri: hitlExtension }] },
    {
      SendMessage({ message: sent }) {
        isAnswered = sent.taskId === "t1";
        return { task: badTask("WORKING") };
      },
      GetTask: () => (isAnswered ? done : { ...asking, status: { ...asking.status, message } }),
      CancelTask: () => badTask("CANCELED"),
    },
  );
}

const askerOf = (agent: BadAgent, deadlineMs?: number) =>
  askerForTest((run, peers) =>
    askAgent(
      run,
      {
        agent: { name: "kagent", url: agent.url },
        parts: [{ type: "text", text: "Clean up." }],
        hops: 0,
        ...(deadlineMs !== undefined && { deadlineMs }),
      },
      peers,
    ),
  );

/** The questions so far, once there are so many and the run waits for an answer. */
async function questions(asker: AskerForTest, id: string, count: number) {
  const all = async () => (await asker.events(id)).flatMap((event) => (event.type === "question-asked" ? [event] : []));
  await until(async () => (await all()).length === count && (await asker.engine.get(id))?.status === "waiting");
  return all();
}

/** Answers the questions as they come; returns them and how the ask ended. */
async function converse(agent: BadAgent, answers: readonly ((code: string) => string)[]) {
  await using asker = await askerOf(agent);
  const id = await asker.start();
  for (const [n, answer] of answers.entries()) {
    const asked = (await questions(asker, id, n + 1))[n];
    await asker.say(id, answer(asked?.approval?.id ?? ""));
  }
  const { output } = await asker.until(id, "completed");
  const asked = (await asker.events(id)).flatMap((event) => (event.type === "question-asked" ? [event] : []));
  const answered = agent.calls.filter(({ method }) => method === "SendMessage")[1];
  return { asked, outcome: output as unknown as AskOutcome, answered: answered?.params.message, agent };
}

const yes = (code: string) => `yes ${code}`;

test("the calls of an agent that asks in kagent's form are put to a person one by one, and decided by their ids", async () => {
  using agent = agentThatAsks({
    type: "tool_approval_request",
    hint: "Deleting needs approval",
    tools: [tool("a-1", "delete_file", { path: "/tmp/old" }), tool("a-2", "restart", null), tool("a-3", "restart")],
  });
  const { asked, outcome, answered } = await converse(agent, [yes, () => "no: it is in use", () => "never"]);
  expect(agent.calls.map(({ headers }) => headers.get("A2A-Extensions"))).toContain(hitlExtension);
  expect(asked.map(({ kind, approval }) => [kind, approval?.name, approval?.arguments])).toEqual([
    ["approval", "delete_file", '{"path":"/tmp/old"}'],
    ["approval", "restart", "{}"],
    ["approval", "restart", "{}"],
  ]);
  expect(asked[0]?.question).toStartWith(
    "Bad agent asks:\n\nAllow this call?\n\nDeleting needs approval\n\ndelete_file",
  );
  expect(asked[0]?.from).toEqual({ agent: "kagent", taskId: "t1", contextId: "k1" });
  // The code of each is of this ask: a yes to a call of another allows nothing here.
  const risk = "Deleting needs approval";
  const { askId = "" } = asked[0] ?? {};
  expect(asked.map(({ approval }) => approval?.id)).toEqual([
    approvalCode(askId, { id: "a-1", name: "delete_file", arguments: '{"path":"/tmp/old"}', risk }),
    ...["a-2", "a-3"].map((id) => approvalCode(askId, { id, name: "restart", arguments: "{}", risk })),
  ]);
  expect(answered).toMatchObject({ taskId: "t1", extensions: [hitlExtension] });
  expect(answered.metadata[hitlExtension]).toEqual({
    type: "tool_approval_response",
    approvals: [
      { id: "a-1", approved: true },
      { id: "a-2", approved: false, rejection_reason: "it is in use" },
      { id: "a-3", approved: false, rejection_reason: "never" },
    ],
  });
  expect(outcome).toMatchObject({ state: "completed", answer: "the answer", exchanges: [{ kind: "approval" }] });
});

test("what an agent behind that agent asks is decided by that agent's ids, and a yes without its code allows nothing", async () => {
  using agent = agentThatAsks({
    type: "tool_approval_request",
    tools: [tool("parent", "k8s_agent", { request: "Remove it" })],
    nested: { subagent_name: "k8s_agent", task_id: "c", context_id: "d", tools: [tool("child", "delete_pod")] },
  });
  const { asked, answered } = await converse(agent, [() => "yes", () => "ok"]);
  expect(asked.map(({ approval }) => approval?.name)).toEqual(["delete_pod", "delete_pod"]);
  expect(asked[1]?.question).toContain("include the code");
  expect(answered.metadata[hitlExtension].approvals).toEqual([
    { id: "child", approved: false, rejection_reason: "ok" },
  ]);
});

test("questions in kagent's form are asked with their choices and answered in their order", async () => {
  using agent = agentThatAsks({
    type: "ask_user_request",
    id: "parent",
    questions: [
      { question: "Which database?", choices: ["PostgreSQL", "SQLite"], multiple: false },
      { question: "Which features?", choices: ["Caching", "Logging"], multiple: true },
    ],
    nested: { tools: [tool("child", "ask_user")] },
  });
  const { asked, answered, outcome } = await converse(agent, [() => "SQLite", () => "Caching, Logging"]);
  expect(asked.map(({ kind }) => kind)).toEqual(["question", "question"]);
  expect(asked[0]?.question).toContain("Which database?\n\n- PostgreSQL\n- SQLite\n\nName one of them");
  expect(answered.metadata[hitlExtension]).toEqual({
    type: "ask_user_response",
    id: "child",
    answers: [{ answer: ["SQLite"] }, { answer: ["Caching", "Logging"] }],
  });
  expect(outcome.exchanges?.[0]?.answer).toEqual([{ type: "text", text: "SQLite\nCaching, Logging" }]);
});

for (const [what, request, extensions] of [
  ["with one id twice", { type: "tool_approval_request", tools: [tool("a", "x"), tool("a", "y")] }, [hitlExtension]],
  [
    "too long to read",
    { type: "tool_approval_request", tools: [tool("a", "x", { y: "z".repeat(20_000) })] },
    undefined,
  ],
  ["that the message does not declare", { type: "tool_approval_request", tools: [tool("a", "x")] }, []],
  ["of another type", { type: "tool_approval", tools: [tool("a", "x")] }, undefined],
] as const) {
  test(`a request ${what} is a question in words, and allows nothing`, async () => {
    using agent = agentThatAsks(request, extensions as string[] | undefined);
    const { asked, answered } = await converse(agent, [() => "yes"]);
    expect(asked.map(({ kind, question }) => [kind, question])).toEqual([
      ["question", "Bad agent asks:\n\nIt needs your decision."],
    ]);
    expect([answered.extensions ?? [], answered.metadata]).toEqual([[], undefined]);
  });
}

test("an ask whose deadline passes between two decisions sends none of them", async () => {
  const request = { type: "tool_approval_request", tools: [tool("a", "x"), tool("b", "y")] };
  using agent = agentThatAsks(request);
  await using asker = await askerOf(agent, 4_000);
  const id = await asker.start();
  const [asked] = await questions(asker, id, 1);
  await asker.say(id, yes(asked?.approval?.id ?? ""));
  const { output } = await asker.until(id, "completed");
  expect(output).toMatchObject({ state: "timed-out" });
  expect(agent.count("SendMessage")).toBe(1);
});

test("no call is put to a person of which any argument, or another call beside it, cannot be read whole", () => {
  const asks = (...tools: readonly object[]) =>
    askedInForm({
      extensions: [hitlExtension],
      metadata: { [hitlExtension]: { type: "tool_approval_request", tools } },
    } as never);
  const short = tool("1", "rm", { path: "a" });
  const long = tool("2", "rm", { path: "a".repeat(16_000) });
  expect(asks(short)).toMatchObject({ type: "approvals", calls: [{ id: "1", arguments: '{"path":"a"}' }] });
  expect([asks(short, long), asks(long, short), asks(short, short)]).toEqual([undefined, undefined, undefined]);
});
