import { expect, test } from "bun:test";
import * as z from "zod";
import type { Model, ModelMessage, ModelRequest } from "../core/model.ts";
import type { Run, RunEvent } from "../core/runs/run.ts";
import { createFlow, type FlowVerbDeps } from "./create-flow.ts";
import { decide, decideUnlessWritten } from "./decide.ts";
import { newState, type StartedFlow } from "./flow-state.ts";

type Said = { readonly text?: string; readonly calls?: readonly (readonly [string, string])[]; readonly cut?: boolean };

/** A flow whose model says this, one reply after the other; with what it was asked and told. */
function flowSaying(...said: readonly Said[]) {
  const requests: ModelRequest[] = [];
  const events: RunEvent[] = [];
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0, source: "provider" };
  const model = {
    capabilities: { maxOutputTokens: 1_000 },
    cost: () => 0,
    async *ask(request: ModelRequest) {
      const { text = "", calls = [], cut } = said[requests.length] ?? {};
      requests.push({ ...request, messages: [...request.messages] });
      if (text !== "") yield { type: "text-delta", text };
      const toolCalls = calls.map(([name, args], at) => ({ id: `c${at}`, name, arguments: args }));
      yield { type: "reply", reply: { text, toolCalls, finish: cut ? "length" : "stop", usage, model: "m" } };
    },
  } as unknown as Model;
  const emit = (event: RunEvent) => void events.push(event);
  const shown: unknown[] = [];
  const progress = ({ isAnswer = false }: { isAnswer?: boolean }) => void shown.push(isAnswer);
  const step = { key: "run/0", now: () => 0, signal: new AbortController().signal, emit, progress };
  const run = { emit, step: (_: string, work: (context: object) => unknown) => work(step) } as unknown as Run;
  const limits = { asks: 3, tokens: 100_000, usd: 1, wallMs: 60_000 };
  const begun = { goal: "", files: [], earlier: {}, startedAt: 0, limits, contextWindow: 100_000 };
  const notices = () => events.filter(({ type }) => type === "notice-given").map(({ kind }) => kind);
  return {
    run,
    state: newState(begun as unknown as StartedFlow, { hops: 0 }),
    deps: { model },
    requests,
    notices,
    shown,
  };
}

const choice = {
  name: "choose",
  description: "Chooses.",
  instructions: "Choose one.",
  text: "A or B?",
  schema: z.strictObject({ way: z.enum(["a", "b"]) }),
  check: ({ way }: { way: string }) => (way === "b" ? "b is taken" : undefined),
};
const good = ["choose", '{"way":"a"}'] as const;
const taken = ["choose", '{"way":"b"}'] as const;
const decided = async (...said: readonly Said[]) => {
  const at = flowSaying(...said);
  const value = await decide(at.run, at.state, choice, at.deps).catch((error) => [error.code, error.message]);
  return { ...at, value };
};
const textOf = (message: ModelMessage | undefined) =>
  message === undefined ? "" : "parts" in message ? JSON.stringify(message.parts) : message.text;

test("a decision is one request with one tool, which the model has to call", async () => {
  const { value, requests } = await decided({ calls: [good] });
  expect(value).toEqual({ way: "a" });
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    toolChoice: { name: "choose" },
    tools: [{ name: "choose", description: "Chooses." }],
  });
  expect(requests[0]?.messages).toEqual([
    { role: "system", text: "Choose one." },
    { role: "user", parts: [{ type: "text", text: "A or B?" }] },
  ]);
});

test.each<readonly [string, Said]>([
  ["arguments in its text", { text: ' {"way":"a"}' }],
  ["other calls beside it", { calls: [["other", "{}"], good, taken] }],
  ["words beside the call", { text: "I choose a.", calls: [good] }],
])("a reply is read with %s", async (_, said) => {
  expect((await decided(said)).value).toEqual({ way: "a" });
});

test.each<readonly [string, Said, string]>([
  ["only words", { text: "I choose a." }, "Answer by calling choose."],
  ["nothing", {}, "Answer by calling choose."],
  ["another call", { calls: [["other", "{}"]] }, "Answer by calling choose."],
  ["broken arguments", { calls: [["choose", '{"way": a']] }, "JSON"],
  ["arguments that do not fit", { calls: [["choose", '{"way":"c"}']] }, "way"],
  ["too many arguments", { calls: [["choose", '{"way":"a","x":1}']] }, "x"],
  ["what is refused", { calls: [taken] }, "b is taken"],
])("a reply of %s goes back with what is wrong, and the next one counts", async (_, said, fault) => {
  const { value, requests } = await decided(said, { calls: [good] });
  expect(value).toEqual({ way: "a" });
  const [own, ...back] = requests[1]?.messages.slice(2) ?? [];
  expect(own).toMatchObject({ role: "assistant", text: said.text ?? (said.calls === undefined ? "(empty)" : "") });
  expect(back).toHaveLength(Math.max(1, said.calls?.length ?? 0));
  for (const message of back) {
    expect(message.role).toBe(said.calls === undefined ? "user" : "tool");
    expect(textOf(message)).toContain(fault);
    expect(textOf(message)).toContain("Call choose once more, with the whole answer");
  }
  // A model that made no call is held to the schema in its text.
  const { toolChoice, answerSchema } = requests[1] ?? {};
  const form = said.calls === undefined ? ["none", true] : [{ name: "choose" }, false];
  expect([toolChoice, answerSchema !== undefined]).toEqual(form as never);
});

test("each of several calls that do not fit gets its result", async () => {
  const { requests } = await decided({ calls: [taken, ["other", "{}"]] }, { calls: [good] });
  const back = requests[1]?.messages.slice(3) ?? [];
  expect(
    back.map((message) => (message.role === "tool" ? [message.callId, message.name, message.isError] : [])),
  ).toEqual([
    ["c0", "choose", true],
    ["c1", "other", true],
  ]);
});

test("after two repairs the decision fails with what was wrong, and what the model said instead", async () => {
  const failing = async (last: Said) => {
    const { value, requests } = await decided({}, {}, last, { calls: [good] });
    expect(requests).toHaveLength(3);
    return value;
  };
  const start = "The model gave no usable answer to choose: ";
  expect(await failing({ calls: [taken], text: "So." })).toEqual(["task_failed", `${start}b is taken`]);
  expect(await failing({ text: " " })).toEqual(["task_failed", `${start}Answer by calling choose.`]);
  expect(await failing({ text: "x".repeat(2_001) })).toEqual([
    "task_failed",
    `${start}Answer by calling choose. It said: ${"x".repeat(2_000)}\n[cut off]`,
  ]);
});

test("a text is taken as it is written unless the tool is called, and a text cut off says so", async () => {
  const writing = { name: "report", instructions: "Write.", text: "All of it.", isAnswer: true };
  const written = async (...said: readonly Said[]) => {
    const at = flowSaying(...said);
    const value = await decideUnlessWritten(at.run, at.state, writing, choice, at.deps);
    const { shown } = at;
    return { value, asked: at.requests.length, notices: at.notices(), choice: at.requests[0]?.toolChoice, shown };
  };
  expect(await written({ text: "The report." })).toEqual({
    shown: [true],
    value: { text: "The report." },
    asked: 1,
    notices: [],
    choice: "auto",
  });
  expect((await written({ text: "Half", cut: true })).notices).toEqual(["truncated"]);
  expect(await written({ calls: [good], text: "No.", cut: true })).toMatchObject({
    value: { value: { way: "a" } },
    notices: [],
  });
  expect(await written({ calls: [taken], text: "No." }, { text: "The report." })).toMatchObject({
    value: { text: "The report." },
    asked: 2,
  });
  expect(await written({ text: " \n" }, { text: "The report." })).toMatchObject({
    value: { text: "The report." },
    asked: 2,
  });
});

test("what a flow writes is the model's text, asked for without tools, and a text cut off says so", async () => {
  const written = async (said: Said) => {
    const at = flowSaying(said);
    const flow = createFlow(at.run, at.state, at.deps as unknown as FlowVerbDeps);
    const text = await flow.write({ name: "report", instructions: "Write.", text: "All of it.", isAnswer: true });
    return { text, notices: at.notices(), request: at.requests[0] };
  };
  const whole = await written({ text: "The report." });
  expect([whole.text, whole.notices]).toEqual(["The report.", []]);
  expect(whole.request).toMatchObject({ tools: [], toolChoice: "none" });
  expect(whole.request?.messages.map((message) => [message.role, textOf(message)])).toEqual([
    ["system", "Write."],
    ["user", '[{"type":"text","text":"All of it."}]'],
  ]);
  const cut = await written({ text: "The rep", cut: true });
  expect([cut.text, cut.notices]).toEqual(["The rep", ["truncated"]]);
});
