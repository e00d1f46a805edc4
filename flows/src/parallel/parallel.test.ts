import { expect, test } from "bun:test";
import type { ReadEvent } from "manyhands/internal/core/events/events";
import { flowRequest } from "manyhands/internal/flow/flow-request";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { type FlowForTest, flowEvents, flowForTest } from "manyhands/internal/testing/flow";
import { parallel } from "./parallel.ts";

const asked = ({ messages }: ChatRequest) => JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
const branches = (events: readonly ReadEvent[]) =>
  flowEvents(events, "branch-ended").map(({ branch, agent, outcome }) => `${branch} ${agent} ${outcome}`);
const artifact = (events: readonly ReadEvent[], name: string) =>
  events.flatMap((event) => (event.type === "artifact-added" && event.name === name ? [event.parts] : []));
const settled = (events: readonly ReadEvent[]) => flowEvents(events, "policy-settled").map(({ reason }) => reason);
const refusal = { calls: [{ name: "terminate", args: { status: "failure", summary: "no such orders" } }] };
const say =
  (text: string, delayMs = 0) =>
  () => ({ text, delayMs });
const endless = say("late", 600_000);
const wrote = (path: string, text: string) => (_: ChatRequest, n: number) =>
  n % 2 === 0
    ? { calls: [{ name: "str_replace_editor", args: { command: "create", path, file_text: text } }] }
    : { text: `wrote ${path}` };

/** Says it once this many branches of the flow's run have ended. */
const sayAfter = (count: number, text: string, flow: () => FlowForTest) => () => ({
  text,
  after: branchesEnded(flow(), count),
});

async function branchesEnded({ engine, events }: FlowForTest, count: number): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(5)) {
    const [run] = (await engine.list({ kind: parallel.name, limit: 1 })).runs;
    if (run !== undefined && branches(await events(run.id)).length >= count) return;
  }
}

/** The states of all tasks at an agent, once none is running. */
async function ended(flow: FlowForTest, agent: string): Promise<string[]> {
  for (const deadline = Date.now() + 60_000; ; await Bun.sleep(10)) {
    const states = (await flow.agent(agent).tasks()).map(({ status }) => status);
    if (states.every((state) => ["completed", "failed", "canceled"].includes(state))) return states;
    if (Date.now() > deadline) throw new Error(`still at work: ${states}`);
  }
}

test("agents work at the same time and their answers are joined in the caller's order", async () => {
  await using flow = await flowForTest(parallel, {
    agents: { slow: sayAfter(1, "slow says 1", () => flow), quick: say("quick says 2") },
  });
  const { record, events, answer } = await flow.run({ text: "Estimate", agents: ["slow", "quick"] });
  expect(record.status).toBe("completed");
  expect(answer).toBe("## 1. slow\n\nslow says 1\n\n## 2. quick\n\nquick says 2");
  expect(branches(events)).toEqual(["2 quick completed", "1 slow completed"]);
  expect(settled(events)).toEqual(["2 completed, 0 failed, and all of 2 had to complete"]);
  expect(record.output).toMatchObject({
    data: { policy: "all of 2", branches: [{ branch: "1", outcome: "completed" }, {}] },
  });
});

test("each item gets a branch, the agents take turns, and no more run at once than allowed", async () => {
  await using flow = await flowForTest(parallel, {
    agents: {
      one: (request) => ({ text: `one ${/part of it: (\w+)/.exec(asked(request))?.[1]}`, delayMs: 20 }),
      two: say("two", 20),
    },
  });
  const { answer, events } = await flow.run({
    text: "Describe",
    agents: ["one", "two"],
    options: { items: ["Rome", "Oslo", "Bern"], concurrency: 2 },
  });
  expect(answer).toBe("## 1. one: Rome\n\none Rome\n\n## 2. two: Oslo\n\ntwo\n\n## 3. one: Bern\n\none Bern");
  let open = 0;
  const most = events.map((event) => {
    if (event.type === "agent-asked") open++;
    if (event.type === "agent-answered") open--;
    return open;
  });
  expect(Math.max(...most)).toBe(2);
});

test("with policy all, one failure fails the flow: the others are canceled, none keeps running, and the results so far are kept", async () => {
  await using flow = await flowForTest(parallel, {
    agents: { good: say("half of it"), bad: () => ({ ...refusal, after: branchesEnded(flow, 1) }), slow: endless },
  });
  const { record, events } = await flow.run({ text: "Go", agents: ["good", "bad", "slow"] });
  expect(record.error).toEqual({
    code: "task_failed",
    message: expect.stringContaining(
      "Too few branches completed: all of 3 had to. Branch 2: bad failed: no such orders",
    ),
  });
  expect(branches(events)).toEqual(["1 good completed", "2 bad failed", "3 slow canceled"]);
  const [[partial] = []] = artifact(events, "partial-answer");
  expect(partial).toMatchObject({
    text: expect.stringMatching(/^half of it\n\nNot everything worked:\nBranch 2: bad/),
  });
  expect(await ended(flow, "slow")).toEqual(["canceled"]);
  expect(events.filter(({ type }) => type === "agent-asked")).toHaveLength(3);
  expect(events.filter(({ type }) => type === "agent-answered")).toHaveLength(3);
});

test("or the others are awaited first, if the caller asks for it", async () => {
  await using flow = await flowForTest(parallel, {
    agents: { bad: [refusal], slow: sayAfter(1, "in the end", () => flow) },
  });
  const { record, events } = await flow.run({ text: "Go", agents: ["bad", "slow"], options: { rest: "await" } });
  expect(record.status).toBe("failed");
  expect(branches(events)).toEqual(["1 bad failed", "2 slow completed"]);
  expect(settled(events)).toEqual(["0 completed, 1 failed, and all of 2 had to complete"]);
  expect(await ended(flow, "slow")).toEqual(["completed"]);
});

test("any: the first answer is the answer, a failure before it does not matter, and the rest is canceled", async () => {
  await using flow = await flowForTest(parallel, {
    agents: { bad: [refusal], quick: sayAfter(1, "here", () => flow), slow: endless },
  });
  const { answer, events } = await flow.run({
    text: "Go",
    agents: ["slow", "quick", "bad"],
    options: { policy: "any" },
  });
  expect(answer).toStartWith("here\n\nNot everything worked:\nBranch 3: bad failed");
  expect(branches(events)).toEqual(["3 bad failed", "2 quick completed", "1 slow canceled"]);
  expect(await ended(flow, "slow")).toEqual(["canceled"]);
});

test("branches no longer needed stop at their agents before the answer is composed", async () => {
  await using flow = await flowForTest(parallel, {
    agents: { quick: say("here"), slow: endless, editor: say("edited", 1_500) },
  });
  const options = { policy: "any", aggregate: "agent", aggregator: "editor" };
  const id = await flow.start({ text: "Go", agents: ["slow", "quick"], options });
  for (const deadline = Date.now() + 60_000; flow.agent("editor").model.requests.length === 0; await Bun.sleep(5))
    if (Date.now() > deadline) throw new Error("the editor was not asked");
  expect((await flow.agent("slow").tasks()).map(({ status }) => status)).toEqual(["canceled"]);
  expect((await flow.until(id, "completed")).output).toMatchObject({ answer: expect.stringContaining("edited") });
});

test("a quorum is met, or can no longer be met, before all have ended; a branch's deadline counts", async () => {
  const agents = { one: say("1"), two: say("2"), slow: endless };
  await using flow = await flowForTest(parallel, { agents });
  const quorum = (quorum: number, more: object = {}) =>
    flow.run({ text: "Go", agents: ["one", "slow", "two"], options: { policy: "quorum", quorum, ...more } });
  expect((await quorum(2)).answer).toBe("## 1. one\n\n1\n\n## 3. two\n\n2");
  const { record, events } = await quorum(3, { deadlineMs: 4_000 });
  expect(record.error?.message).toContain("3 of 3 had to. Branch 2: slow did not answer in time");
  expect(branches(events).at(-1)).toBe("2 slow failed");
  expect(await ended(flow, "slow")).toEqual(["canceled", "canceled"]);
});

test("the model composes one answer from the results, knowing what failed", async () => {
  const model = [{ text: "Both together" }];
  await using flow = await flowForTest(parallel, {
    agents: { one: say("first"), two: say("second"), bad: [refusal] },
    model,
  });
  const options = { policy: "quorum", quorum: 2, rest: "await", aggregate: "model" };
  const { answer } = await flow.run({ text: "Sum up", agents: ["one", "two", "bad"], options });
  expect(answer).toStartWith("Both together\n\nNot everything worked:");
  const told = JSON.stringify(flow.model.requests[0]?.body.messages);
  for (const text of ["<report>\\nfirst", "<report>\\nsecond", "Not done: bad failed", "Sum up"])
    expect(told).toContain(text);
});

test("or an agent composes it, with the files of all; files with one name are both passed on", async () => {
  await using flow = await flowForTest(parallel, {
    agents: {
      one: wrote("part.md", "# One"),
      two: wrote("part.md", "# Two"),
      editor: (request) => ({ text: asked(request).includes("part.md") ? "edited" : "nothing" }),
    },
  });
  const options = { aggregate: "agent", aggregator: "editor" };
  const { answer, events } = await flow.run({ text: "Write", agents: ["one", "two"], options });
  expect(answer).toBe("edited");
  const names = events.flatMap((event) => (event.type === "artifact-added" ? [event.name] : []));
  expect(names).toEqual(["part.md", "2/part.md", "answer"]);
});

test("if the agent cannot compose the answer, the flow ends with the separate answers", async () => {
  await using flow = await flowForTest(parallel, {
    agents: { one: say("first"), two: say("second"), editor: [refusal] },
  });
  const options = { aggregate: "agent", aggregator: "editor" };
  const { record, events } = await flow.run({ text: "Write", agents: ["one", "two"], options });
  expect(record.error?.message).toStartWith("The results could not be put together: editor failed");
  expect(artifact(events, "partial-answer")).toMatchObject([[{ text: expect.stringContaining("second") }]]);
});

test("a limit of the flow that is reached ends it with the limit's name and the results so far", async () => {
  await using flow = await flowForTest(parallel, { agents: { one: say("1", 50) }, limits: { asks: 2 } });
  const { record, events } = await flow.run({
    text: "Go",
    agents: ["one"],
    options: { items: ["a", "b", "c"], rest: "await", policy: "all" },
  });
  expect(record.error?.code).toBe("step_limit");
  expect(branches(events)).toContain("3 one failed");
  expect(artifact(events, "partial-answer")).toHaveLength(1);
});

test("the flow asks a branch's question while the others keep working; a canceled flow cancels them all", async () => {
  const asks = [{ calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] }, { text: "2025 it is" }];
  await using flow = await flowForTest(parallel, { agents: { asker: asks, other: say("done", 50), slow: endless } });
  const id = await flow.start({ text: "Go", agents: ["asker", "other"] });
  await flow.event(id, "question-asked");
  await flow.event(id, "branch-ended");
  await flow.say(id, "2025");
  expect((await flow.until(id, "completed")).output).toMatchObject({ answer: expect.stringContaining("2025 it is") });

  const canceled = await flow.start({ text: "Go", agents: ["slow"], options: { items: ["a", "b"] } });
  await flow.event(canceled, "agent-accepted", 2);
  await flow.engine.cancel(canceled);
  await flow.until(canceled, "canceled");
  expect(await ended(flow, "slow")).toEqual(["canceled", "canceled"]);
});

test("contradictory settings are refused when the flow is accepted, a wrong agent before any is asked", async () => {
  const refused = (agents: string[], options: { [name: string]: string | number }) => () =>
    flowRequest(parallel, {
      message: { parts: [{ type: "text", text: "Go" }] },
      flow: { agents, options },
    });
  expect(refused(["a"], { policy: "quorum" })).toThrow("options.quorum: say how many");
  expect(refused(["a"], { policy: "quorum", quorum: 2 })).toThrow("options.quorum: at most 1, the number of branches");
  expect(refused(["a"], { quorum: 1 })).toThrow("options.quorum: goes with the policy quorum only");
  expect(refused(["a"], { aggregate: "agent" })).toThrow("options.aggregator: name the agent");
  await using flow = await flowForTest(parallel, { agents: { one: say("1") } });
  const { record } = await flow.run({ text: "Go", options: { branches: [{ agent: "one" }, { agent: "nobody" }] } });
  expect(record.error).toEqual({ code: "invalid_input", message: 'There is no agent "nobody"; there are: one.' });
  expect(await flow.agent("one").tasks()).toEqual([]);
});
