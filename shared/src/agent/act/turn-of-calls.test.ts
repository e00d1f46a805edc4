import { afterAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { RunEvent } from "../../core/runs/run.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../core/tools/tool.ts";
import type { AgentState } from "../task/agent-state.ts";
import type { PlannedCall } from "../task/loop.ts";
import type { ToolDeps } from "./call-tool.ts";
import { callTools, limitCalls } from "./call-tools.ts";
import { durableContext } from "./durable-context.ts";

/** A task in memory, whose steps are only carried out; with what it recorded. */
function taskForTest(changes: object = {}) {
  const events: RunEvent[] = [];
  const steps: string[] = [];
  const recorded: unknown[] = [];
  const emit = (event: RunEvent) => void events.push(event);
  const step = { signal: new AbortController().signal, key: "key", now: () => 0, emit, progress: () => undefined };
  const run = {
    id: "run",
    principal: "alice",
    contextId: "c1",
    emit,
    step: async (name: string, act: (context: typeof step) => Promise<unknown>) => {
      steps.push(name);
      const result = await act(step);
      recorded.push(result);
      return result;
    },
    all: (branches: readonly ((run: unknown) => Promise<unknown>)[]) => Promise.all(branches.map((each) => each(run))),
    poll: async () => [],
    race: async () => ({ messageId: "m", parts: [{ type: "text", text: "blue" }] }),
  };
  const limits = { tokens: 1e6, usd: 10, wallMs: 60_000, resultCharacters: 2_000, parallelCalls: 2, callsPerTurn: 2 };
  const task = {
    run,
    limits: { ...limits, answerMs: 1_000 },
    contextWindow: 100_000,
    messages: [],
    pendingMessages: [],
    received: new Map(),
    spent: { tokens: 0, usd: 0, unpriced: false, workMs: 0 },
    reserved: { tokens: 0, usd: 0 },
    hops: 0,
    said: [],
    given: [],
    takenIn: new Set<string>(),
    allowed: new Set<string>(),
    callsMs: 0,
    views: { open: [], weighed: 0 },
    outcome: undefined,
    ...changes,
  } as unknown as AgentState;
  return { task, events, steps, recorded };
}

const capabilities = { contextWindow: 100_000, maxOutputTokens: 1_000, vision: false };
const counted = { inputTokens: 5, outputTokens: 1, cachedInputTokens: 0, costUsd: 1, source: "provider" };
const model = {
  name: "m",
  capabilities,
  cost: () => 0,
  async *ask() {
    yield { type: "reply", reply: { text: "gist", toolCalls: [], usage: counted, model: "m", finish: "stop" } };
  },
};
const stored = async (_: string, path: string) => ({ sha256: path, name: path, mediaType: "text/plain", size: 1 });
const metaRoot = join(tmpdir(), `turn-of-calls-${crypto.randomUUID()}`);
afterAll(() => rm(metaRoot, { recursive: true, force: true }));
const workspace = { root: "/w", metaRoot, spill: async (name: string) => `.manyhands/output/${name}` };
const deps = {
  model,
  artifacts: { put: stored },
  openWorkspace: async () => workspace,
} as unknown as ToolDeps;

const tool = (
  name: string,
  call: (input: { n?: number | undefined }, context: ToolContext) => Promise<string>,
  more: object = {},
) => ({
  ...defineTool({
    name,
    description: "",
    input: z.looseObject({ n: z.number().optional() }),
    effect: "pure",
    run: call,
  }),
  ...more,
});
const planned = (name: string, way: PlannedCall["way"] = "together", more: Partial<PlannedCall> = {}): PlannedCall => ({
  id: `call-${name}`,
  name,
  arguments: "{}",
  approval: "allow",
  way,
  ...more,
});
async function made(
  tools: readonly Tool[],
  calls: readonly PlannedCall[],
  changes: object = {},
  otherDeps: object = {},
) {
  const at = taskForTest(changes);
  await callTools({ tools } as never, { ...deps, ...otherDeps })(calls, at.task);
  const texts = at.task.messages.map((message) => (message.role === "tool" ? message.text : ""));
  return { ...at, texts };
}

test("of the calls that do not disturb each other as many run at once as the task allows, in the order of their results", async () => {
  let [now, most] = [0, 0];
  const busy = tool("busy", async ({ n }) => {
    most = Math.max(most, ++now);
    await Bun.sleep(5 - (n ?? 0));
    now--;
    return `${n}`;
  });
  const calls = [0, 1, 2, 3, 4].map((n) => planned("busy", "together", { arguments: JSON.stringify({ n }) }));
  const { texts } = await made([busy], calls);
  expect([most, texts]).toEqual([2, ["0", "1", "2", "3", "4"]]);
  await made([busy], calls, { limits: { ...taskForTest().task.limits, parallelCalls: 9 } });
  expect(most).toBe(5);
});

test("all that a call brings is taken in, in the task's own words for it", async () => {
  const two = tool("two", async () => "x", { brings: ["web", "notes"] });
  const none = tool("none", async () => "x", { brings: [] });
  const { task } = await made(
    [two, none, tool("other", async () => "x")],
    ["two", "none", "other"].map((name) => planned(name)),
  );
  expect([...task.takenIn]).toEqual(["web", "notes", "other"]);
});

test("the work of calls at the same time is that of the longest, of calls one after another that of all", async () => {
  const sleeping = tool("sleeping", async ({ n }) => `${await Bun.sleep(n ?? 0)}`);
  const calls = (way: PlannedCall["way"]) =>
    [1, 40, 1].map((n) => planned("sleeping", way, { arguments: JSON.stringify({ n }) }));
  const { task } = await made([sleeping], calls("together"));
  expect(task.spent.workMs).toBeGreaterThanOrEqual(40);
  expect(task.callsMs).toBe(task.spent.workMs);
  const { task: next } = await made([sleeping], [...calls("alone"), ...calls("alone")]);
  expect(next.spent.workMs).toBeGreaterThanOrEqual(80);
});

test("everything that a call asks the model is counted once, before and after a question to a person", async () => {
  const asking: Tool = {
    ...tool("asking", async () => ""),
    async call(_, { ask, answer }) {
      const told = [
        await ask({ instructions: "Sum up.", text: "a" }),
        await ask({ instructions: "Sum up.", text: "b" }),
      ];
      if (answer === undefined) return { text: "", isError: false, asks: { question: "Which?", state: null } };
      return { text: `${told.join()} ${answer.text}`, isError: false };
    },
  };
  const { task, texts } = await made([asking], [planned("asking")]);
  expect([texts, task.spent.tokens, task.spent.usd]).toEqual([["gist,gist blue"], 24, 4]);
});

test("an output that its tool has cut and kept in a file is cut further, and not kept again", async () => {
  const text = `begin ${"word ".repeat(9_000)}[whole output, 1000000 bytes: a.txt]`;
  const flood = { ...tool("flood", async () => ""), call: async () => ({ text, isError: false, keptAt: "a.txt" }) };
  const { texts } = await made([flood], [planned("flood")]);
  expect(texts[0]).toMatch(
    /^begin (?:word )+\w*\n\n\[the middle is left out here\]\n\n\w* (?:word )+\[whole [^\]]+\]$/,
  );
});

test("a call's step holds what its tool asked the model, which knows for whom, and tells of the files first", async () => {
  const principals: unknown[] = [];
  const spilled: string[] = [];
  const seen: unknown[] = [];
  const asked = {
    ...model,
    async *ask(request: never, { principal }: { principal: string }) {
      principals.push(principal);
      yield* model.ask.call(request);
    },
  };
  const room = {
    ...workspace,
    takeNotice: () => "The files are as they were an hour ago.",
    spill: async (name: string, whole: string) => `.manyhands/output/${spilled.push(whole)}-${name}`,
  };
  const act = tool("act", async (_, { ask, vision }) => {
    seen.push(vision);
    return `${await ask({ instructions: "Sum up.", text: "a" })} ${"word ".repeat(1_000)}`;
  });
  const { texts, recorded } = await made(
    [act],
    [planned("act", "alone")],
    {},
    {
      model: asked,
      openWorkspace: async () => room,
    },
  );
  expect([principals, seen]).toEqual([["alice"], [false]]);
  expect(texts[0]).toStartWith("The files are as they were an hour ago.\n\ngist word");
  // The whole of it is kept, not what was read of it to see how much fits.
  expect(spilled).toEqual([`The files are as they were an hour ago.\n\ngist ${"word ".repeat(1_000)}`]);
  expect(recorded).toMatchObject([{ usage: [counted], asked: [{ id: expect.any(String) }] }]);
});

test("a result fits the model's window too, and shares a turn's part of it", async () => {
  const long = tool("long", async () => "word ".repeat(400));
  const small = { contextWindow: 2_000 };
  const [one] = (await made([long], [planned("long")])).texts;
  const [alone] = (await made([long], [planned("long")], small)).texts;
  const many = (await made([long], Array(9).fill(planned("long")), small)).texts;
  expect(one).toHaveLength(2_000);
  expect(alone?.length).toBeLessThanOrEqual(1_500);
  expect(alone).toContain("the whole is in .manyhands/output/long.txt");
  for (const text of many) expect(text.length).toBeLessThan((alone?.length ?? 0) / 2);
});

test("the start of a call tells what it is allowed by, only if a person was to be asked and has allowed that", async () => {
  const act = tool("act", async () => "x");
  const cases = [
    [planned("act", "alone", { approval: "ask", forTask: "all of it" }), "all of it"],
    [planned("act", "alone", { approval: "ask", forTask: "other calls" }), undefined],
    [planned("act", "alone", { approval: "allow", forTask: "all of it" }), undefined],
    [planned("act", "alone", { approval: "ask" }), undefined],
  ] as const;
  for (const [call, forTask] of cases) {
    const { events } = await made([act], [call], { allowed: new Set(["all of it"]) });
    expect(events.find(({ type }) => type === "tool-started")?.forTask).toBe(forTask as string);
  }
});

test("a call is made if what it would do is what was judged, or less", async () => {
  let would: string | undefined;
  const act = tool("act", async () => "done", { risk: async () => would });
  const texts = async (risk?: string) =>
    (await made([act], [planned("act", "alone", risk === undefined ? {} : { risk })])).texts;
  expect(await texts("Click “Buy”")).toEqual(["done"]);
  would = "Click “Buy”";
  expect(await texts("Click “Buy”")).toEqual(["done"]);
  expect((await texts("Click “OK”"))[0]).toContain("Not done");
  expect((await texts())[0]).toContain("Not done");
});

test("a call of any name has a step, whose name is short and whole", async () => {
  const { steps, texts } = await made([], [planned(`${"x".repeat(99)}😀${"y".repeat(500)}`, "alone")]);
  expect(steps).toEqual([`tool ${"x".repeat(99)}\ufffd`]);
  expect(texts[0]).toContain("There is no tool named");
});

test("calls above the limit of a turn are refused, each with its own result; those below are made", async () => {
  const { task } = taskForTest();
  const passed: string[] = [];
  const act = limitCalls(async (calls) => void passed.push(...calls.map(({ id }) => id)));
  await act(
    ["a", "b", "c", "d"].map((name) => planned(name)),
    task,
  );
  expect(passed).toEqual(["call-a", "call-b"]);
  const text = "Not called: one turn may make 2 calls. Repeat it in a later turn if it is still needed.";
  expect(task.messages).toEqual([
    { role: "tool", callId: "call-c", name: "c", text, isError: true },
    { role: "tool", callId: "call-d", name: "d", text: "Not called, as the one before.", isError: true },
  ]);
});

test("what others send to a durable call is taken in, and every file it sends on is stored", async () => {
  const { task } = taskForTest();
  const context = durableContext(task.run, task, deps);
  await context.place([{ type: "data", data: 1 }]);
  await context.adopt([{ type: "file", sha256: "0", name: "x", mediaType: "text/plain", size: 1 }]).catch(() => []);
  expect([...task.takenIn]).toEqual(["data"]);
});
