import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Flow } from "manyhands/internal/core/flow";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { flowForTest } from "manyhands/internal/testing/flow";
import type { ScriptedReply } from "manyhands/internal/testing/models/scripted-model";
import { agentFlow, agentKind } from "./agent-flow.ts";
import { runnablesOf } from "./runnables.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-agent-flow-"));
afterAll(() => rm(home, { recursive: true }));

const noRuns = { list: async () => ({ runs: [], total: 0 }), events: async () => [] };

type AskOutcome = Awaited<ReturnType<Flow["ask"]>>;

/** What the flow of an agent does over an engine's runs when its agent's task ends like this. */
async function performed(outcome: Partial<AskOutcome>, engine: Parameters<typeof agentFlow>[1] = noRuns) {
  const told: unknown[] = [];
  const file = { type: "file", sha256: "0", name: "a.csv", mediaType: "text/csv", size: 1 };
  const steps: unknown[] = [];
  const step = (name: string, find: () => unknown, how: object) => {
    steps.push([name, how]);
    return find();
  };
  const flow = {
    run: { id: "this", contextId: "c1", principal: "alice", step },
    goal: "Go.",
    files: [file],
    ask: async (...asked: unknown[]) => {
      told.push(asked);
      return { state: "completed", answer: "done", files: ["f"], artifacts: ["a"], ...outcome };
    },
    handOn: (...handed: unknown[]) => told.push(handed),
    reached: (answer: string) => told.push(answer),
  };
  const definition = agentFlow("one", engine);
  const result = definition.perform(flow as never, {} as never);
  const output = await result.catch((error) => ({ failed: [error.code, error.message] }));
  return { output, told, file, steps, asks: definition.asks };
}

test("a task is passed on whole, and what came of it is the run's: its files, artifacts, data and answer", async () => {
  const { output, told, file, steps, asks } = await performed({ data: { n: 0 } });
  expect([steps, asks]).toEqual([[["find conversation", { effect: "pure" }]], ["one"]]);
  const asked = ["one", { text: "Go.", parts: [file] }, { isAnswer: true, passMessages: true }];
  expect(told).toEqual([asked, [["f"], ["a"]], "done"]);
  expect(output).toEqual({ answer: "done", data: { n: 0 } });
  expect((await performed({ isReply: true })).output).toEqual({ answer: "done", reply: true });
});

test.each([
  [{ state: "failed", error: { code: "unavailable", message: "It is away." } }, ["unavailable", "It is away."]],
  [{ state: "failed" }, ["task_failed", "one ended as failed."]],
  [{ state: "rejected" }, ["task_failed", "one ended as rejected."]],
  [{ state: "canceled" }, ["task_failed", "one ended as canceled."]],
] as const)(
  "a task that did not complete fails the run, which keeps what there is of it: %j",
  async (outcome, failed) => {
    const { output, told } = await performed(outcome as Partial<AskOutcome>);
    expect(output).toEqual({ failed } as never);
    expect(told.slice(1)).toEqual([[["f"], ["a"]], "done"]);
  },
);

test("a run goes on in the conversation of the latest run before it whose task the agent accepted, and in its newest", async () => {
  const accepted = (contextId: string) => ({ event: { type: "agent-accepted", contextId } });
  const events: Record<string, object[]> = {
    this: [accepted("its own")],
    refused: [{ event: { type: "agent-asked" } }],
    before: [accepted("first"), accepted("second"), { event: { type: "answer" } }],
    oldest: [accepted("too old")],
  };
  const filters: object[] = [];
  const engine = {
    list: async (filter: object) => {
      filters.push(filter);
      return { runs: Object.keys(events).map((id) => ({ id })), total: 4 };
    },
    events: async (id: string) => events[id] ?? [],
  };
  const { told } = await performed({}, engine as never);
  expect(told[0]).toEqual(["one", expect.anything(), { isAnswer: true, passMessages: true, contextId: "second" }]);
  expect(filters).toEqual([{ kind: "agent:one", contextId: "c1", principal: "alice", limit: 10 }]);
});

test("a message without a text goes to the agent as it came", async () => {
  await using flow = await flowForTest(agentFlow("one", noRuns), { agents: { one: () => ({ text: "read" }) } });
  const file = await flow.artifacts.put(Buffer.from("a,b"), { name: "a.csv" });
  const { answer } = await flow.run({ text: "", files: [{ type: "file", ...file }] });
  expect(answer).toBe("read");
  const [task] = await flow.agent("one").tasks();
  expect(task?.input).toMatchObject({ message: { parts: [{ type: "file", name: "a.csv" }] } });
});

/** Works until the user has said more than the task, then repeats all that was said. */
function untilSaid({ messages }: ChatRequest, n: number): ScriptedReply {
  const read = messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
  if (read.includes("In red.")) return { text: JSON.stringify(read) };
  // Each differs, or the agent is told that it repeats itself.
  const args = { command: "create", path: `${n}.txt`, file_text: "x" };
  return { calls: [{ name: "str_replace_editor", args }], delayMs: 100 };
}

test("what is said to a run while its agent works is read before the agent's next turn", async () => {
  await using flow = await flowForTest(agentFlow("one", noRuns), { agents: { one: untilSaid } });
  const id = await flow.start({ text: "Draw." });
  await flow.event(id, "agent-accepted");
  await flow.say(id, "In red.");
  expect((await flow.until(id, "completed", "failed")).output).toMatchObject({ answer: '["Draw.","In red."]' });
  expect(await flow.event(id, "message-heard", 2)).toMatchObject({ as: "message" });
});

test("a run that began with the first version goes on as it was, after an upgrade too", async () => {
  const now = agentFlow("one", noRuns);
  const [first] = now.former ?? [];
  const { former: _, ...before } = { ...now, body: 1, perform: first?.perform ?? now.perform };
  await using flow = await flowForTest(before, { agents: { one: [{ text: "drawn", delayMs: 1_000 }] } });
  const id = await flow.start({ text: "Draw." });
  await flow.event(id, "agent-accepted");
  await flow.upgrade(now);
  expect((await flow.until(id, "completed", "failed", "paused")).output).toMatchObject({ answer: "drawn" });
});

test("an agent can be started by a file alone, by nothing it cannot; a flow needs a text", () => {
  const agents = [{ name: "one", source: "registered" as const }];
  const { all } = runnablesOf([], { list: () => agents as never });
  const admit = (parts: readonly object[]) => () => all()[0]?.admit({ messageId: "m", parts: parts as never });
  const file = { type: "file", sha256: "0", name: "a.csv", mediaType: "text/csv", size: 1 };
  expect(admit([file])()).toEqual({});
  expect(admit([{ type: "data", data: 1 }])()).toEqual({});
  expect(admit([])).toThrow("say in a text what is to be done");
});

test("a run goes on in its own principal's conversation, though another has used the same name since", async () => {
  const earlier = createEmbeddedEngine({ path: join(home, "runs.db") });
  for (const principal of ["alice", "bob"]) {
    const accepted = { type: "agent-accepted", askId: "a", agent: "one", taskId: "t", contextId: `${principal}-there` };
    const begun = { kind: agentKind("one"), input: null, principal, contextId: "c1", events: [accepted] };
    await earlier.start(begun);
    await Bun.sleep(2);
  }
  await using flow = await flowForTest(agentFlow("one", earlier), { agents: { one: () => ({ text: "read" }) } });
  const { record } = await flow.run({ text: "And then?" });
  await earlier.close();
  expect([record.principal, record.contextId]).toEqual(["alice", "c1"]);
  expect((await flow.agent("one").tasks()).map(({ contextId }) => contextId)).toEqual(["alice-there"]);
});
