import { expect, test } from "bun:test";
import type { ReadEvent } from "manyhands/internal/core/events/events";
import type { Json } from "manyhands/internal/core/json";
import { flowRequest } from "manyhands/internal/flow/flow-request";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { flowEvents, flowForTest } from "manyhands/internal/testing/flow";
import { conditional } from "./conditional.ts";

const asked = ({ messages }: ChatRequest) => JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
const choices = (events: readonly ReadEvent[]) =>
  flowEvents(events, "choice-made").map(({ choice, by, reason }) => `${choice} by ${by}: ${reason}`);
const say = (text: string) => () => ({ text });
const chosen = (branch: string, confidence = 0.9) => ({
  calls: [{ name: "choose_branch", args: { branch, confidence, reason: `it is about ${branch}` } }],
});
const agents = { coder: say("fixed"), analyst: say("counted"), writer: say("written") };
const branches = [
  { name: "code", when: "Bugs and programs", agent: "coder", rules: [{ keywords: ["bug"] }, { file: "*.ts" }] },
  { name: "data", when: "Tables", agent: "analyst" },
  { name: "rest", when: "All else", agent: "writer" },
];

test("a rule decides without the model, and the others are not asked", async () => {
  await using flow = await flowForTest(conditional, { agents });
  const { answer, events, record } = await flow.run({ text: "There is a bug", options: { branches } });
  expect(answer).toBe("fixed");
  expect(choices(events)).toEqual(['code by rule: The task says "bug".']);
  expect(record.output).toMatchObject({
    data: { choice: { branch: "code", by: "rule", reason: 'The task says "bug".' } },
  });
  expect(flow.model.requests).toEqual([]);
  expect([await flow.agent("analyst").tasks(), await flow.agent("writer").tasks()]).toEqual([[], []]);
});

test("if no rule matches, the model chooses among the branches, and an invalid name is corrected", async () => {
  const model = [chosen("tables"), chosen("data")];
  await using flow = await flowForTest(conditional, { agents, model });
  const { answer, events, record } = await flow.run({ text: "Which region sold most?", options: { branches } });
  expect(answer).toBe("counted");
  expect(choices(events)).toEqual(["data by model: it is about data"]);
  expect(record.output).toMatchObject({ data: { choice: { branch: "data", confidence: 0.9 }, agent: "analyst" } });
  expect(JSON.stringify(flow.model.requests[0]?.body.tools)).toContain('"enum":["none","code","data","rest"]');
  expect(events.filter(({ type }) => type === "agent-asked")).toHaveLength(1);
});

test("what is said while the chosen agent works is read before its next turn", async () => {
  const coder = ({ messages }: ChatRequest, n: number) => {
    const read = messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
    if (read.includes("In red.")) return { text: JSON.stringify(read) };
    // Each differs, or the agent is told that it repeats itself.
    const args = { command: "create", path: `${n}.txt`, file_text: "x" };
    return { calls: [{ name: "str_replace_editor", args }], delayMs: 100 };
  };
  await using flow = await flowForTest(conditional, { agents: { ...agents, coder } });
  const id = await flow.start({ text: "There is a bug", options: { branches } });
  await flow.event(id, "agent-accepted");
  await flow.say(id, "In red.");
  const { output } = await flow.until(id, "completed", "failed");
  expect(output).toMatchObject({ answer: '["There is a bug","In red."]' });
});

test("without branches each agent is a branch, described by its card", async () => {
  await using flow = await flowForTest(conditional, { agents, model: [chosen("writer")] });
  expect((await flow.run({ text: "A poem", agents: ["coder", "writer"] })).answer).toBe("written");
  expect(JSON.stringify(flow.model.requests[0]?.body.messages)).toContain("- writer: Does what writer does.");
});

test("if the model is unsure, the default is taken, or the task is rejected if there is none", async () => {
  await using flow = await flowForTest(conditional, {
    agents,
    model: [chosen("data", 0.2), chosen("none"), chosen("none")],
  });
  const sorted = (more: object) => flow.run({ text: "Hm", options: { branches, ...more } });
  const low = await sorted({ default: "rest" });
  expect(choices(low.events)).toEqual(["rest by default: it is about data (data, but with a confidence of 0.2 only)"]);
  expect((await sorted({ default: "rest" })).answer).toBe("written");
  const none = await sorted({});
  expect(none.record.error).toEqual({ code: "rejected", message: "No branch fits: it is about none" });
  expect(none.events.some(({ type }) => type === "agent-asked")).toBe(false);
});

test("or a person is asked, who answers by number or name, and is asked again after anything else", async () => {
  await using flow = await flowForTest(conditional, { agents, model: () => chosen("none") });
  const id = await flow.start({ text: "Hm", options: { branches, unsure: "ask" } });
  expect(await flow.event(id, "question-asked")).toMatchObject({
    question: expect.stringContaining("2. data: Tables"),
  });
  await flow.say(id, "the blue one");
  expect(await flow.event(id, "question-asked", 2)).toMatchObject({
    question: expect.stringMatching(/^"the blue one" names none/),
  });
  await flow.say(id, "2.");
  expect((await flow.until(id, "completed")).output).toMatchObject({
    answer: "counted",
    data: { choice: { by: "person" } },
  });
  const other = await flow.start({ text: "Hm", options: { branches, unsure: "ask" } });
  await flow.event(other, "question-asked");
  await flow.say(other, '"Data."');
  expect((await flow.until(other, "completed")).output).toMatchObject({ answer: "counted" });
});

test("the model interprets an answer in other words, and the agent receives it", async () => {
  await using flow = await flowForTest(conditional, {
    agents: { ...agents, analyst: (request) => ({ text: asked(request) }) },
    model: ({ messages }) => chosen(JSON.stringify(messages).includes("the sums are off") ? "data" : "none"),
  });
  const start = (more: object) => flow.start({ text: "Hm", options: { branches, unsure: "ask", ...more } });
  const id = await start({});
  await flow.event(id, "question-asked");
  const file = await flow.artifacts.put(new TextEncoder().encode("a,b"), { name: "sums.csv" });
  await flow.say(id, "the one for tables: the sums are off", [{ type: "file", ...file }]);
  const { output } = await flow.until(id, "completed");
  const asks = (await flow.events(id)).filter((event) => event.type === "agent-asked");
  expect(asks.map(({ parts }) => parts.flatMap((part) => (part.type === "file" ? part.name : [])))).toEqual([
    ["sums.csv"],
  ]);
  expect(output).toMatchObject({
    answer: expect.stringContaining("the sums are off"),
    data: { choice: { branch: "data", by: "person" } },
  });
  const ruled = await start({ classify: "rules" });
  await flow.event(ruled, "question-asked");
  await flow.say(ruled, "the sums are off");
  await flow.event(ruled, "question-asked", 2);
});

test("a condition that cannot be judged counts as unsure, not as a failure of the flow", async () => {
  await using flow = await flowForTest(conditional, { agents, model: say("I cannot say") });
  const { answer, events } = await flow.run({ text: "Hm", options: { branches, default: "rest" } });
  expect(answer).toBe("written");
  expect(choices(events)[0]).toStartWith("rest by default: The model gave no usable answer to choose_branch");
});

test("the branch's instruction comes from its template; its failure is the flow's", async () => {
  const refusal = { calls: [{ name: "terminate", args: { status: "failure", summary: "too hard" } }] };
  await using flow = await flowForTest(conditional, {
    agents: { echo: (request) => ({ text: asked(request) }), bad: [refusal] },
  });
  const rules = [{ keywords: ["go"] }];
  const one = (agent: string) => ({
    branches: [{ name: "only", agent, rules, instruction: "{branch}/{agent}: {goal} ({reason})" }],
  });
  const { answer } = await flow.run({ text: "Go", options: one("echo") });
  expect(answer).toContain('only/echo: Go (The task says \\"go\\".)');
  const { record, events } = await flow.run({ text: "Go", options: one("bad") });
  expect(record.error).toEqual({
    code: "task_failed",
    message: expect.stringContaining("Branch only: bad failed: too hard"),
  });
  expect(flowEvents(events, "branch-ended")[0]).toMatchObject({ branch: "only", outcome: "failed" });
});

test("contradictory settings are refused when the flow is accepted, a wrong agent before anything is decided", async () => {
  const refused = (options: { [name: string]: Json }) => () =>
    flowRequest(conditional, {
      message: { parts: [{ type: "text", text: "Go" }] },
      flow: { options },
    });
  expect(refused({ branches, default: "misc" })).toThrow("options.default: there are code, data, rest");
  expect(refused({ branches: [...branches, ...branches] })).toThrow("options.branches: there are two named code");
  expect(refused({ branches: [{ name: "none", agent: "a" }] })).toThrow("options.branches: none cannot be a name");
  expect(refused({ branches: branches.slice(1), classify: "rules" })).toThrow(
    "options.branches: none of them has rules",
  );
  expect(refused({ branches: [{ name: "a", agent: "a", rules: [{ regex: "(" }] }] })).toThrow("regular expression");
  await using flow = await flowForTest(conditional, { agents });
  const { record } = await flow.run({ text: "Go", options: { branches: [{ name: "x", agent: "nobody" }] } });
  expect(record.error?.code).toBe("invalid_input");
  expect(flow.model.requests).toEqual([]);
});
