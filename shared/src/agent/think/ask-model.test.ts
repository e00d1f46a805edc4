import { expect, test } from "bun:test";
import * as z from "zod";
import type { AgentDefinition } from "../../core/agent.ts";
import type { Model, ModelEvent, ModelRequest, ToolCall } from "../../core/model.ts";
import type { RecordedRequest } from "../../core/runs/asked-request.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Observation, Tool } from "../../core/tools/tool.ts";
import type { AgentState, TaskMessage } from "../task/agent-state.ts";
import { askModel, fixedTokens, waitingOf } from "./ask-model.ts";

const usage = { inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 10, costUsd: 0, source: "provider" } as const;
const words = (count: number) => "word ".repeat(count);
const said = (text: string): TaskMessage => ({ role: "user", parts: [{ type: "text", text }] });
const toolNamed = (name: string): Tool =>
  defineTool({ name, description: name, input: z.strictObject({}), effect: "pure", run: async () => "" });

/** An agent with these tools, which sees what `look` gives. */
function agentWith(over: Partial<AgentDefinition> = {}): AgentDefinition {
  return { name: "a", instructions: "You think.", tools: [], toolChoice: "auto", ...over } as AgentDefinition;
}

/** A task that has heard one message, before its first turn. */
function taskWith(over: Partial<AgentState> = {}): AgentState {
  const messages = over.messages ?? [said("Go.")];
  const context = { signal: new AbortController().signal, emit: () => undefined, progress: () => undefined };
  const recorded: object[] = [];
  const run = {
    principal: "ann",
    contextId: "c",
    emit: () => undefined,
    recorded,
    step: async (_: string, work: (step: object) => Promise<object>) => {
      const result = await work({ ...context, key: `run/${recorded.length}` });
      recorded.push(result);
      return result;
    },
  };
  const open = messages.flatMap((message) => (message.role === "observation" ? [{ message, turn: 1 }] : []));
  return {
    run,
    limits: { steps: 9, tokens: 10_000, usd: 1, wallMs: 60_000 },
    contextWindow: 100_000,
    fixedTokens: 0,
    today: "2026-01-02",
    messages,
    goal: messages[0],
    called: new Set(),
    turn: 1,
    hints: [],
    measured: { tokens: 0, messages: 0 },
    tailTokens: 0,
    views: { open, weighed: 0 },
    prompt: { of: messages, count: 0, messages: [] },
    spent: { tokens: 0, usd: 0, unpriced: false, workMs: 0 },
    hops: 0,
    said: [],
    given: [],
    takenIn: new Set(),
    ...over,
  } as unknown as AgentState;
}

/** One turn: what the model was asked, and what was stored. */
async function turn(
  task: AgentState,
  agent = agentWith(),
  { vision = true, text = "Done.", toolCalls = [] as readonly ToolCall[] } = {},
): Promise<{
  readonly request: ModelRequest;
  readonly stored: readonly string[];
  readonly principal: string | undefined;
}> {
  const requests: ModelRequest[] = [];
  let principal: string | undefined;
  const stored: string[] = [];
  const model = {
    name: "m",
    capabilities: { vision, maxOutputTokens: 1_000_000 },
    imageRule: { kind: "tiles", tile: 512, base: 100, each: 0, square: 2_048 },
    cost: () => 0,
    async *ask(request: ModelRequest, options: { readonly principal: string }): AsyncGenerator<ModelEvent> {
      requests.push(request);
      principal = options.principal;
      yield { type: "reply", reply: { text, toolCalls: [...toolCalls], finish: "stop", usage, model: "m" } };
    },
  } as unknown as Model;
  const artifacts = {
    put: async (_: unknown, { name }: { readonly name: string }) => {
      stored.push(name);
      return { name, mediaType: "image/png", sha256: "0", size: 1 };
    },
    get: async () => undefined,
  };
  await askModel(agent, { model, artifacts, openWorkspace: async () => ({}) } as never)(task);
  const [request] = requests;
  if (request === undefined) throw new Error("the model was not asked");
  return { request, stored, principal };
}
const roomOf = async (...what: Parameters<typeof turn>) => (await turn(...what)).request.maxOutputTokens ?? 0;
const tools = [toolNamed("read"), toolNamed("write")];

test("an answer's room is what the limit leaves after the prompt: what was measured, what is new, and the tail", async () => {
  const base = await roomOf(taskWith());
  expect(base - (await roomOf(taskWith({ messages: [said("Go."), said(words(500))] })))).toBeWithin(500, 520);
  expect(base - (await roomOf(taskWith({ hints: [words(500)] })))).toBeWithin(500, 520);
  const measured = { tokens: 700, messages: 1 };
  expect(base - (await roomOf(taskWith({ measured })))).toBeWithin(680, 700);
});

test("the system text and the tools count once: not again where they were measured, and anew where they changed", async () => {
  const agent = agentWith({ tools });
  const fixed = fixedTokens(agent, tools, "2026-01-02");
  const measured = { tokens: 700, messages: 1 };
  const known = await roomOf(taskWith({ measured, fixedTokens: fixed }), agent);
  const fresh = await roomOf(taskWith({ measured, fixedTokens: 0 }), agent);
  expect([known, known - fresh]).toEqual([10_000 - 700, fixed]);
  expect(fixed).toBeGreaterThan(fixedTokens(agent, tools.slice(1), "2026-01-02"));
});

test("what is folded for a prompt is not counted in it", async () => {
  const page = { role: "observation", text: words(1_000), brief: "[a page]", mark: "1" } as const;
  const looking = (since?: string) =>
    agentWith({ look: async (): Promise<Observation> => ({ text: "B", mark: "2", ...(since && { since }) }) });
  const task = () => taskWith({ messages: [said("Go."), page], measured: { tokens: 2_000, messages: 2 } });
  expect((await roomOf(task(), looking())) - (await roomOf(task(), looking("1")))).toBeWithin(950, 1_050);
  const folded = task();
  await turn(folded, looking());
  // What was folded is nothing that a later result could refer to.
  expect(folded.views.open.map(({ message }) => message.text)).toEqual(["B"]);
});

test("what a turn measured is the prompt without its tail, up to the reply", async () => {
  const agent = agentWith({ tools });
  const task = taskWith({ hints: [words(300), "second"] });
  const calls = ["read", "write"].map((name) => ({ id: name, name, arguments: "{}" }));
  const { request } = await turn(task, agent, { toolCalls: calls });
  expect(request.messages.at(-1)).toEqual({
    role: "user",
    parts: [
      { type: "text", text: words(300) },
      { type: "text", text: "second" },
    ],
  });
  expect(task.tailTokens).toBeWithin(300, 330);
  expect(task.measured).toEqual({ tokens: 1_000 - task.tailTokens, messages: 1 });
  expect(task.fixedTokens).toBe(fixedTokens(agent, tools, task.today));
  expect([...task.called]).toEqual(["read", "write"]);
  expect(task.hints).toEqual([]);
});

test("text ends a task whose tools are required only in its last turn, which offers no other end", async () => {
  const agent = agentWith({ tools, toolChoice: "required" });
  const early = taskWith({ turn: 1 });
  expect((await turn(early, agent)).request.toolChoice).toBe("required");
  expect([early.outcome, early.hints]).toEqual([undefined, [expect.stringContaining("Text alone")]]);
  const last = taskWith({ turn: 9 });
  expect((await turn(last, agent)).request.toolChoice).toBe("none");
  expect(last.outcome).toEqual({ status: "success", summary: "Done." });
  // Where nothing may be called, a call in the text is a part of the answer.
  const shown = taskWith({ turn: 9 });
  const text = '```tool_call\n{"name": "read", "arguments": {}}\n```';
  await turn(shown, agent, { text });
  expect(shown.outcome).toEqual({ status: "success", summary: text });
});

test("a turn asks in its principal's name, and is recorded by what is new since the one before", async () => {
  const task = taskWith();
  const agent = agentWith({ tools });
  const calls = { toolCalls: [{ id: "1", name: "read", arguments: "{}" }] };
  expect((await turn(task, agent, calls)).principal).toBe("ann");
  task.messages.push({ role: "tool", callId: "1", name: "read", text: "so", isError: false });
  await turn(task, agent, calls);
  task.messages.push({ role: "tool", callId: "1", name: "read", text: "so", isError: false });
  await turn(task, agent);
  const { recorded } = task.run as unknown as { recorded: { asked: RecordedRequest }[] };
  const asked = recorded.map(({ asked: { id, after, messages, tools: told } }) => ({
    ...{ id, after, kept: messages.keep, added: messages.add.length, told: told.add.length },
  }));
  expect(asked).toEqual([
    { id: "0", after: undefined, kept: 0, added: 2, told: 2 },
    { id: "1", after: "0", kept: 2, added: 2, told: 0 },
    { id: "2", after: "1", kept: 4, added: 2, told: 0 },
  ]);
});

test("each image that is seen is stored under its own number, and none for a model that sees none", async () => {
  const image = { type: "image", mediaType: "image/png", data: "aGk=" } as const;
  const agent = agentWith({ look: async () => ({ text: "two", images: [image, image] }) });
  expect((await turn(taskWith(), agent)).stored).toEqual(["seen-1", "seen-2"]);
  expect((await turn(taskWith(), agent, { vision: false })).stored).toEqual([]);
});

test("a tool is described as it describes itself now, and the day is the task's", async () => {
  const changing = { ...toolNamed("ask"), description: "Asks one." };
  const agent = agentWith({ tools: [changing] });
  await turn(taskWith(), agent);
  Object.assign(changing, { description: "Asks one or two." });
  const { request } = await turn(taskWith({ today: "2026-01-03" }), agent);
  expect(request.tools).toMatchObject([{ name: "ask", description: "Asks one or two." }]);
  expect(request.messages[0]).toEqual({ role: "system", text: "You think.\n\nToday is 2026-01-03." });
});

test("an agent's own hint knows the turn and how many there are", async () => {
  const agent = agentWith({ turnHint: ({ turn, maxTurns }) => `${turn} of ${maxTurns}` });
  const { request } = await turn(taskWith({ turn: 2 }), agent);
  expect(request.messages.at(-1)).toEqual({ role: "user", parts: [{ type: "text", text: "2 of 9" }] });
});

test("a task waits for its model within its time, and for one that never answered only if it was reached", () => {
  const task = taskWith({ spent: { tokens: 0, usd: 0, unpriced: false, workMs: 20_000 } });
  const waiting = waitingOf(task, { modelPauses: { firstMs: 1, longestMs: 2 } });
  expect([waiting.hasAnswered, waiting.leftMs({} as never)]).toEqual([false, 40_000]);
  waiting.spent(15_000);
  expect([task.spent.workMs, waiting.leftMs({} as never)]).toEqual([35_000, 25_000]);
  expect(waiting.pauses).toEqual({ firstMs: 1, longestMs: 2 });
  expect(waitingOf(taskWith({ spent: { ...task.spent, tokens: 1 } }), {}).hasAnswered).toBe(true);
});
