import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { JournalEvent } from "../../core/events/events.ts";
import type { Model, ModelEvent, ModelRequest } from "../../core/model.ts";
import type { AgentState, TaskMessage } from "../task/agent-state.ts";
import { fitWindow } from "./compaction.ts";
import { filesHeading } from "./transcript.ts";

const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, costUsd: 0, source: "provider" } as const;
const goal: TaskMessage = { role: "user", parts: [{ type: "text", text: "Go." }] };
const turnOf = (n: number): TaskMessage[] => [
  { role: "assistant", text: "", toolCalls: [{ id: `${n}`, name: "read", arguments: "{}" }] },
  { role: "tool", callId: `${n}`, name: "read", text: `result ${n}`, isError: false },
];
const summaryWith = (files: readonly string[]): TaskMessage => ({
  role: "summary",
  text: [`EARLIER\n\n${filesHeading}`, ...files].join("\n- "),
});

/**
 * A turn of a task whose prompt has so many tokens of a window of 8,000, with the goal and these
 * messages.
 */
async function fitting(
  tokens: number,
  later: readonly TaskMessage[],
  answer: string | Error = "SUMMARY",
  failures: readonly Error[] = [],
  roles: Model["roles"] = {},
) {
  const messages = [goal, ...later];
  const requests: ModelRequest[] = [];
  const told: JournalEvent[] = [];
  const principals: string[] = [];
  const recorded: unknown[] = [];
  let thought = 0;
  const model = {
    name: "m",
    capabilities: { maxOutputTokens: 4_000, vision: false },
    roles,
    cost: () => 0,
    async *ask(request: ModelRequest, { principal }: { readonly principal: string }): AsyncGenerator<ModelEvent> {
      requests.push(request);
      principals.push(principal);
      if (answer instanceof Error) throw answer;
      yield { type: "reply", reply: { text: answer, toolCalls: [], finish: "stop", usage, model: "m" } };
    },
  } as unknown as Model;
  const emit = (event: JournalEvent) => void told.push(event);
  const step = async (_: string, work: (step: object) => Promise<unknown>) => {
    const result = await work({ key: "run/0", signal: new AbortController().signal, emit });
    recorded.push(result);
    return result;
  };
  const task = {
    run: { principal: "ann", contextId: "c", step },
    limits: { steps: 9, tokens: 100_000, usd: 1, wallMs: 60_000 },
    contextWindow: 8_000,
    fixedTokens: 77,
    messages,
    goal,
    measured: { tokens, messages: messages.length },
    tailTokens: 0,
    views: { open: [], weighed: 3 },
    spent: { tokens: 0, usd: 0, unpriced: false, workMs: 0 },
  } as unknown as AgentState;
  const openWorkspace = async () => ({ spill: async (name: string) => `.manyhands/output/${name}` });
  const think = fitWindow(
    async () => {
      const failure = failures[thought++];
      if (failure !== undefined) throw failure;
      return [];
    },
    { model, openWorkspace, tools: [] } as never,
  );
  await think(task);
  return { task, requests, principals, told, recorded, thought: () => thought };
}
const texts = ({ messages }: AgentState) => messages.map((message) => ("text" in message ? message.text : "Go."));

test("a prompt of more than three quarters of the window is summed up, and of no less", async () => {
  const turns = [1, 2, 3].flatMap(turnOf);
  expect((await fitting(6_000, turns)).requests).toEqual([]);
  const { task, requests, principals, told, recorded, thought } = await fitting(6_001, turns);
  expect(requests).toHaveLength(1);
  expect(principals).toEqual(["ann"]);
  expect(recorded).toMatchObject([{ summary: "SUMMARY", asked: { id: "0", messages: { keep: 0 } } }]);
  expect(requests[0]).toMatchObject({ tools: [], toolChoice: "none", maxOutputTokens: 2_000 });
  expect(texts(task)).toEqual(["Go.", "SUMMARY", "", "result 3"]);
  expect(told).toMatchObject([{ type: "context-compacted", summary: "SUMMARY", kept: 2, usage }]);
  expect(task.measured).toEqual({ tokens: 77, messages: 0 });
  expect([task.views.weighed, task.spent.tokens, thought()]).toEqual([0, 15, 1]);
});

test("a summary alone is not summed up again", async () => {
  const { task, requests, thought } = await fitting(7_000, [summaryWith([]), ...turnOf(1)]);
  expect([requests.length, thought()]).toEqual([0, 1]);
  expect(task.measured).toEqual({ tokens: 7_000, messages: 4 });
});

test("a summary names the newest twenty files that hold what was cut, each once, whatever the model wrote of them", async () => {
  const files = Array.from({ length: 25 }, (_, n) => `.manyhands/output/${n}.txt: RESULT ${n}`);
  const again = ".manyhands/output/24.txt: again";
  const written = `SUMMARY\n\n${filesHeading}\n- made-up.txt`;
  const { task } = await fitting(7_000, [summaryWith([...files, again]), ...[1, 2].flatMap(turnOf)], written);
  const [, summary = ""] = texts(task);
  expect(summary).toBe(
    ["SUMMARY\n", filesHeading, ...[...files.slice(5, 24), again].map((line) => `- ${line}`)].join("\n"),
  );
});

test("an empty summary is replaced by a list of what was said and done", async () => {
  const [, summary = ""] = texts((await fitting(7_000, [summaryWith([]), ...[1, 2].flatMap(turnOf)], " \n")).task);
  expect(summary).toBe("EARLIER\nAGENT: \nCALL read {}\nRESULT of read: result 1");
});

test("a summary that the model refuses to write is made without it, and costs nothing", async () => {
  const refusal = new AppError("model_rejected", "No.");
  const { task, told } = await fitting(7_000, [1, 2].flatMap(turnOf), refusal);
  expect(told).toMatchObject([
    { type: "context-compacted", summary: expect.stringContaining("RESULT of read"), kept: 2 },
  ]);
  expect(told[0]).not.toHaveProperty("usage");
  expect(task.spent.tokens).toBe(0);
});

test("a prompt that the provider finds too long is summed up once and sent again; any other failure is not", async () => {
  const overflow = new AppError("context_overflow", "Too long.");
  const turns = [1, 2, 3].flatMap(turnOf);
  const { requests, thought } = await fitting(100, turns, "SUMMARY", [overflow]);
  expect([requests.length, thought()]).toEqual([1, 2]);
  await expect(fitting(100, turns, "SUMMARY", [overflow, overflow])).rejects.toBe(overflow);
  // With nothing left to sum up it would be as long again.
  await expect(fitting(100, turnOf(1), "SUMMARY", [overflow])).rejects.toBe(overflow);
  const other = new AppError("model_rejected", "No.");
  await expect(fitting(100, turns, "SUMMARY", [other])).rejects.toBe(other);
});

test("a bug while a summary is written ends the turn", async () => {
  await expect(fitting(7_000, [1, 2].flatMap(turnOf), new TypeError("a bug"))).rejects.toThrow("a bug");
});

const tooLong = (sentence: string) => new AppError("context_overflow", sentence);

test("the window that a provider names is kept from then on, and a larger one changes nothing", async () => {
  const turns = [1, 2, 3].flatMap(turnOf);
  const named = "request (5123 tokens) exceeds the available context size (4096 tokens)";
  expect((await fitting(100, turns, "SUMMARY", [tooLong(named)])).task.contextWindow).toBe(4_096);
  const larger = "maximum context length is 32768 tokens";
  expect((await fitting(100, turns, "SUMMARY", [tooLong(larger)])).task.contextWindow).toBe(8_000);
});

test("where nothing is left to sum up, the results of the newest turn are cut, and short ones are not", async () => {
  const [call, result] = turnOf(1);
  const long = { ...result, text: "word ".repeat(1_000) } as TaskMessage;
  const { task, thought } = await fitting(5_000, [call as TaskMessage, long], "", [tooLong("too long")]);
  expect(thought()).toBe(2);
  expect(texts(task).at(-1)).toMatch(/^word .*More is no longer shown here.*word $/s);
  expect(texts(task).at(-1)?.length).toBeWithin(1_000, 1_300);
  expect(task.measured).toEqual({ tokens: 77, messages: 0 });
  expect(fitting(5_000, turnOf(1), "", [tooLong("too long")])).rejects.toMatchObject({ code: "context_overflow" });
});

test("the model that the settings name for summaries writes them", async () => {
  const summary = {
    name: "small",
    capabilities: { maxOutputTokens: 1_000, contextWindow: 4_000, vision: false },
    cost: () => 0,
    async *ask(): AsyncGenerator<ModelEvent> {
      yield { type: "reply", reply: { text: "IN SHORT", toolCalls: [], finish: "stop", usage, model: "small" } };
    },
  } as unknown as Model;
  const { task, requests } = await fitting(6_001, [1, 2, 3].flatMap(turnOf), "SUMMARY", [], { summary });
  expect(requests).toEqual([]);
  expect(texts(task)).toEqual(["Go.", "IN SHORT", "", "result 3"]);
});
