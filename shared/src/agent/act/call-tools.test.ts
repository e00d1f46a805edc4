import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { SubBudget } from "../../core/tools/durable-context.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { askHuman } from "../../tools/human/ask-human.ts";

const read = defineTool({
  name: "look_up",
  description: "Looks a word up.",
  input: z.strictObject({ word: z.string() }),
  effect: "pure",
  run: async ({ word }) => word,
});
/** One of the words is asked about, and looked up with the answer. */
const lookUp: Tool = {
  ...read,
  async call(input, context) {
    const { text } = await read.call(input, context);
    if (text !== "b") return { text, isError: false };
    if (context.answer === undefined) return { text: "", isError: false, asks: { question: "Which b?", state: null } };
    return { text: `b as ${context.answer.text}`, isError: false };
  },
};
const act = (more: Partial<Tool> = {}): Tool => ({
  ...defineTool({ name: "act", description: "", input: z.looseObject({}), effect: "once", run: async () => "did" }),
  ...more,
});
const calls = ["a", "b", "c", "d", "e"].map((word) => ({ name: "look_up", args: { word } }));

test("results are in the order of the calls however many run at once, and an answer goes to the call that asked", async () => {
  await using agent = await agentForTest({
    script: [{ calls }, { text: "done" }],
    tools: [lookUp],
    agent: { limits: { parallelCalls: 2 } },
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.say(id, "a letter");
  await agent.until(id, "completed");
  const results = agent.model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool");
  expect(results?.map(({ content }) => content)).toEqual(["a", "b as a letter", "c", "d", "e"]);
});

test.each([
  ["a question of a tool", [lookUp], { name: "look_up", args: { word: "b" } }, "a letter", "b as a letter"],
  ["a durable question", [askHuman()], { name: "ask_human", args: { inquire: "Which?" } }, "a letter", "a letter"],
  ["an approval", [act()], { name: "act", args: {} }, "yes CODE", "did"],
] as const)("%s is not answered by what was said before it was asked", async (_, tools, call, answer, result) => {
  const said = Promise.withResolvers<void>();
  await using agent = await agentForTest({
    script: [{ calls: [call], after: said.promise }, { text: "done" }],
    tools: [...tools],
    ...(call.name === "act" && { approval: () => "ask" as const }),
  });
  const id = await agent.start("Go.");
  for (const end = Date.now() + 60_000; agent.model.requests.length === 0 && Date.now() < end; ) await Bun.sleep(5);
  await agent.say(id, "By the way.");
  said.resolve();
  await agent.until(id, "waiting", "completed");
  const asked = (await agent.events(id)).find((event) => event.type === "question-asked");
  await agent.say(id, answer.replace("CODE", asked?.approval?.id ?? ""));
  await agent.until(id, "completed");
  const messages = agent.model.requests.at(-1)?.body.messages ?? [];
  expect(messages.find(({ role }) => role === "tool")?.content).toBe(result);
  expect(JSON.stringify(messages)).toContain("By the way.");
});

test("a question that nobody answers within a day is over, and its call goes on without an answer", async () => {
  let later = 0;
  const asking = act({
    call: async (_, { answer }) =>
      answer === undefined
        ? { text: "", isError: false, asks: { question: "Sure?", state: null } }
        : { text: `answered: ${answer.text}`, isError: false },
  });
  await using agent = await agentForTest({
    script: [{ calls: [{ name: "act", args: {} }] }, { text: "done" }],
    tools: [asking],
    passed: () => later,
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  later = 25 * 60 * 60 * 1000;
  await agent.until(id, "completed");
  const ended = (await agent.events(id)).find(({ type }) => type === "tool-ended");
  expect(ended).toMatchObject({ text: "answered: undefined" });
});

test("a call that changes something runs beside no other, whatever stands before and after it", async () => {
  const seen: string[] = [];
  const noting = (name: string, effect: "pure" | "once") =>
    act({
      name,
      effect: () => effect,
      call: async () => {
        seen.push(`${name} begins`);
        await Bun.sleep(20);
        seen.push(`${name} ends`);
        return { text: "", isError: false };
      },
    });
  await using agent = await agentForTest({
    script: [{ calls: ["read", "write", "read"].map((name) => ({ name, args: {} })) }, { text: "done" }],
    tools: [noting("read", "pure"), noting("write", "once")],
  });
  await agent.run("Go.");
  expect(seen).toEqual(["read", "write", "read"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test("an answer of several parts is heard whole", async () => {
  await using agent = await agentForTest({
    script: [{ calls: [{ name: "look_up", args: { word: "b" } }] }, { text: "done" }],
    tools: [lookUp],
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.say(id, "one", [{ type: "text", text: "two" }]);
  await agent.until(id, "completed");
  const results = agent.model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool");
  expect(results?.map(({ content }) => content)).toEqual(["b as one\ntwo"]);
});

/** A tool that borrows all that is left of its task's budget, and notes how much that is. */
function lender() {
  const left: SubBudget["budget"][] = [];
  const tool = act({
    name: "lend",
    callDurably: async (_, __, { subBudget }) => {
      left.push(subBudget(1).budget);
      return { text: "", isError: false };
    },
  });
  return { tool, left };
}
const lend = { calls: [{ name: "lend", args: {} }] };
const two = { calls: ["one", "two"].map((which) => ({ name: "act", args: { which } })) };

test("of calls made together the longest counts as the task's work, of calls one after another each", async () => {
  for (const effect of ["pure", "once"] as const) {
    const slow = act({ effect: () => effect, call: () => Bun.sleep(40).then(() => ({ text: "", isError: false })) });
    const { tool, left } = lender();
    await using agent = await agentForTest({
      script: [two, lend, { text: "done" }],
      tools: [slow, tool],
      agent: { limits: { wallMs: 900_000 } },
    });
    const { events } = await agent.run("Go.");
    const thought = events.flatMap((event) => (event.type === "model-replied" ? [event.milliseconds] : [])).slice(0, 2);
    const made = events.flatMap((event) => (event.type === "tool-ended" ? [event.milliseconds] : [])).slice(0, 2);
    expect(Math.min(...made)).toBeGreaterThanOrEqual(39);
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
    expect(left[0]?.wallMs).toBe(900_000 - sum(thought) - (effect === "pure" ? Math.max(...made) : sum(made)));
  }
});

test("what a call works counts before it asked a person and after; the wait for the person does not", async () => {
  const asking = act({
    call: async (_, { answer }) => {
      await Bun.sleep(answer === undefined ? 20 : 60);
      return { text: "", isError: false, ...(answer === undefined && { asks: { question: "Sure?", state: null } }) };
    },
  });
  const { tool, left } = lender();
  await using agent = await agentForTest({
    script: [{ calls: two.calls.slice(1) }, lend, { text: "done" }],
    tools: [asking, tool],
    agent: { limits: { wallMs: 900_000 } },
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await Bun.sleep(300);
  await agent.say(id, "yes");
  await agent.until(id, "completed");
  const events = await agent.events(id);
  const thought = events.flatMap((event) => (event.type === "model-replied" ? [event.milliseconds] : [])).slice(0, 2);
  const worked = 900_000 - (left[0]?.wallMs ?? 0) - thought.reduce((sum, one) => sum + one, 0);
  const second = events.flatMap((event) => (event.type === "tool-ended" ? [event.milliseconds] : []))[0] ?? 0;
  expect(worked).toBeGreaterThanOrEqual(second + 19);
  expect(worked).toBeLessThan(second + 300);
});

test("what a call asked the model counts, before it asked a person and after", async () => {
  const asking = act({
    call: async (_, { ask, answer }) => {
      const text = await ask({ instructions: "Say.", text: "What?" });
      return { text, isError: false, ...(answer === undefined && { asks: { question: "Sure?", state: null } }) };
    },
  });
  const { tool, left } = lender();
  const turns = [{ calls: two.calls.slice(1) }, lend];
  let turn = 0;
  await using agent = await agentForTest({
    script: ({ messages }) =>
      JSON.stringify(messages[0]).includes("Say.") ? { text: "This." } : (turns[turn++] ?? { text: "done" }),
    tools: [asking, tool],
    agent: { limits: { tokens: 100_000 } },
  });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.say(id, "yes");
  await agent.until(id, "completed");
  const events = await agent.events(id);
  expect(events.filter(({ type }) => type === "tool-started")).toHaveLength(2);
  const replied = events.flatMap((event) => (event.type === "model-replied" ? [event.usage] : [])).slice(0, 2);
  const asked = events.flatMap((event) => (event.type === "model-asked" ? [event.usage] : []));
  expect([replied.length, asked.length]).toEqual([2, 2]);
  const used = [...replied, ...asked].reduce((sum, one) => sum + one.inputTokens + one.outputTokens, 0);
  expect(left[0]?.tokens).toBe(100_000 - used);
});

test("of two calls of a turn that end the task, the first decides", async () => {
  const ending = act({
    call: async (input) => ({ text: "", isError: false, end: { status: "success", summary: JSON.stringify(input) } }),
  });
  await using agent = await agentForTest({ script: [two], tools: [ending] });
  expect((await agent.run("Go.")).record.output).toEqual({ answer: '{"which":"one"}' });
});

test("after a call that failed to act on a thing, later calls of its turn that act on it are not made, others are", async () => {
  const made: string[] = [];
  const tool = (name: string, more: Partial<Tool>, fails = false): Tool => ({
    ...act(more),
    name,
    call: async () => {
      made.push(name);
      return { text: fails ? "It took too long." : "did", isError: fails };
    },
  });
  const page = { actsOn: "page" };
  const names = ["open", "fill", "look", "note", "submit", "shot", "again"];
  await using agent = await agentForTest({
    script: [
      { calls: names.map((name) => ({ name, args: {} })) },
      { calls: [{ name: "submit", args: {} }] },
      { text: "done" },
    ],
    tools: [
      tool("open", page),
      tool("fill", page, true),
      tool("look", { ...page, effect: () => "pure" }),
      tool("note", {}),
      tool("submit", page),
      tool("shot", { ...page, effect: () => "idempotent" }),
      tool("again", { actsOn: "screen" }),
    ],
  });
  await agent.until(await agent.start("Go."), "completed");
  expect(made).toEqual(["open", "fill", "look", "note", "shot", "again", "submit"]);
  const [, second] = agent.model.requests;
  const results = second?.body.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(results?.[4]).toContain("Not made: fill, before it in this turn, failed");
});

test("after a call that failed to set a part of a thing, others that set one are made, and what builds on them is not", async () => {
  const made: string[] = [];
  const tool = (name: string, setsPart: boolean, fails = false): Tool => ({
    ...act({ actsOn: "page", setsPart: () => setsPart }),
    name,
    call: async () => {
      made.push(name);
      return { text: fails ? "It has no such entry." : "did", isError: fails };
    },
  });
  const tools = [tool("choose", true, true), tool("write", true), tool("send", false), tool("fail", false, true)];
  const turn = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name, args: {} })) });
  await using agent = await agentForTest({
    script: [
      turn("choose", "write", "send", "write"),
      turn("choose", "fail", "write"),
      turn("fail", "write"),
      { text: "done" },
    ],
    tools,
  });
  await agent.until(await agent.start("Go."), "completed");
  expect(made).toEqual(["choose", "write", "choose", "fail"]);
  const results = agent.model.requests[1]?.body.messages.filter(({ role }) => role === "tool");
  expect(results?.map(({ content }) => String(content).includes("Not made: choose"))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test("a call on the page is not made after one of its turn that the configuration denied, an earlier one is", async () => {
  const made: unknown[] = [];
  const press: Tool = {
    ...act({ actsOn: "page" }),
    call: async (input) => ({ text: `did ${made.push(input)}`, isError: false }),
  };
  const calls = [{ n: 1 }, { n: 0 }, { n: 2 }].map((args) => ({ name: "act", args }));
  await using agent = await agentForTest({
    script: [{ calls }, { text: "done" }],
    tools: [press],
    approval: (call) => (call.arguments.includes("0") ? "deny" : "allow"),
  });
  await agent.until(await agent.start("Go."), "completed");
  expect(made).toEqual([{ n: 1 }]);
});
