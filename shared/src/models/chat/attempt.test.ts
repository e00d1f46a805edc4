import { expect, test } from "bun:test";
import type { ModelMessage, ModelReply, ModelRequest } from "../../core/model.ts";
import { reply } from "../../testing/models/reply.ts";
import { traitsOf } from "../capabilities.ts";
import { modelConfigSchema } from "../config.ts";
import { createModel } from "../create-model.ts";
import { attempt } from "./attempt.ts";
import type { AnswerSignals, Protocol, ProtocolAnswer } from "./protocol.ts";

const price = { inputPerMillion: 10, cachedInputPerMillion: 1, outputPerMillion: 100 };
const call = (id: string, args = "{}") => ({ id, type: "function", function: { name: "bash", arguments: args } });

/** The reply of a model whose server sends this whole answer. */
async function answered(
  choice: object,
  rest: object = {},
  messages: readonly ModelMessage[] = [],
): Promise<ModelReply> {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ choices: [{ index: 0, ...choice }], ...rest }),
  });
  const config = modelConfigSchema.parse({ name: "m", baseUrl: `${server.url.origin}/v1`, price, maxRetries: 0 });
  const request: ModelRequest = { messages, tools: [], toolChoice: "auto" };
  try {
    return await reply(createModel(config), request, { signal: AbortSignal.timeout(20_000) });
  } finally {
    await server.stop(true);
  }
}

test.each([
  ["stop", { finish_reason: "stop", message: { content: "x" } }],
  ["length", { finish_reason: "length", message: { content: "x" } }],
  ["content-filter", { finish_reason: "content_filter", message: { content: "x" } }],
  ["content-filter", { finish_reason: "content_filter", message: { content: "x", tool_calls: [call("a")] } }],
  ["stop", { finish_reason: "tool_calls", message: { content: "x" } }],
  ["tool-calls", { finish_reason: "stop", message: { content: "x", tool_calls: [call("a")] } }],
])("an answer ends as %s: %j", async (finish, choice) => {
  expect((await answered(choice)).finish).toBe(finish as ModelReply["finish"]);
});

test("of an answer that its limit cut off only whole calls are made", async () => {
  const calls = [call("a", '{"n":1}'), call("b", '{"n":'), call("c", "[1]")];
  const cut = await answered({ finish_reason: "length", message: { content: "", tool_calls: calls } });
  expect(cut.toolCalls.map(({ id }) => id)).toEqual(["a"]);
  const whole = await answered({ finish_reason: "tool_calls", message: { content: "", tool_calls: calls } });
  expect(whole.toolCalls.map(({ id }) => id)).toEqual(["a", "b", "c"]);
});

test.each([
  ["what is reported", { prompt_tokens: 1_000, completion_tokens: 10 }, [1_000, 0, 10, 0.011, "provider"]],
  [
    "with the cheaper part that was cached",
    { prompt_tokens: 1_000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 500 } },
    [1_000, 500, 10, 0.0065, "provider"],
  ],
  ["and nothing where that is zero", { prompt_tokens: 0, completion_tokens: 0 }, [0, 0, 0, 0, "provider"]],
  ["half of it estimated", { prompt_tokens: 1_000 }, [1_000, 0, 1, 0.0101, "estimate"]],
] as const)("an answer is paid for by %s", async (_, usage, [input, cached, output, costUsd, source]) => {
  const { usage: counted } = await answered({ finish_reason: "stop", message: { content: "x" } }, { usage });
  expect(counted).toEqual({
    inputTokens: input,
    cachedInputTokens: cached,
    outputTokens: output,
    costUsd: expect.closeTo(costUsd, 9),
    source,
  });
});

test("without numbers, words, thoughts and calls all count", async () => {
  const message = {
    content: "one two three",
    reasoning: "because of that",
    tool_calls: [call("a", '{"command":"ls"}')],
  };
  const tokens = async (over: object) =>
    (await answered({ finish_reason: "stop", message: { ...message, ...over } })).usage.outputTokens;
  const all = await tokens({});
  for (const less of [{ content: "" }, { reasoning: "" }, { tool_calls: [] }])
    expect(await tokens(less)).toBeLessThan(all);
});

const earlier = (...ids: string[]): ModelMessage[] => [
  { role: "assistant", text: "", toolCalls: ids.map((id) => ({ id, name: "bash", arguments: "{}" })) },
  { role: "tool", callId: ids[0] ?? "", name: "bash", text: "x", isError: false },
];

test.each([
  ["new ids stay", [], ["a", "b"], ["a", "b"]],
  ["also beside others", ["x"], ["a", "b"], ["a", "b"]],
  ["one of an earlier turn gets a number", ["a"], ["a", "b"], ["a_2", "b"]],
  ["a missing one is numbered across the conversation", ["x", "y"], [""], ["call_3"]],
  ["past a number that is taken", ["call_2"], ["", ""], ["call_3", "call_4"]],
])("calls have ids of their own: %s", async (_, before, given, ids) => {
  const message = { content: "", tool_calls: given.map((id) => call(id)) };
  const { toolCalls } = await answered({ finish_reason: "tool_calls", message }, {}, earlier(...before));
  expect(toolCalls.map(({ id }) => id)).toEqual(ids);
});

test("also of all turns of a conversation that grows, and of one that compaction shortened", async () => {
  const message = { content: "", tool_calls: [call("a")] };
  const next = async (messages: readonly ModelMessage[]) =>
    (await answered({ finish_reason: "tool_calls", message }, {}, messages)).toolCalls[0]?.id;
  const goal: ModelMessage[] = [
    { role: "system", text: "go" },
    { role: "user", parts: [{ type: "text", text: "go" }] },
  ];
  const grown = [...goal, ...earlier("a"), ...earlier("a_2")];
  expect(await next(goal)).toBe("a");
  expect(await next([...goal, ...earlier("b")])).toBe("a");
  expect(await next(grown)).toBe("a_3");
  expect(await next([...grown, ...earlier("c"), { role: "user", parts: [{ type: "text", text: "a hint" }] }])).toBe(
    "a_4",
  );
  expect(await next([...grown, ...earlier("c"), ...earlier("a_4")])).toBe("a_5");
  expect(await next([...goal, ...earlier("c")])).toBe("a");
});

/** One attempt over a protocol that says this, and what it was given to end by. */
function attempted(answer: Partial<ProtocolAnswer>, tell?: (signals: AnswerSignals) => Promise<unknown>) {
  const given: AnswerSignals[] = [];
  const protocol: Protocol = {
    async *answer(_, __, signals) {
      given.push(signals);
      yield { type: "text-delta", text: "x" };
      await tell?.(signals);
      return { text: "x", reasoning: "", toolCalls: [], finish: "stop", usage: {}, ...answer };
    },
  };
  const config = modelConfigSchema.parse({ name: "m", price });
  const request: ModelRequest = { messages: [], tools: [], toolChoice: "auto" };
  const caller = new AbortController();
  const going = attempt({ config, protocol }, request, traitsOf(config), caller.signal);
  return { given, caller, going };
}

/** How an attempt that is read to its end ended. */
async function endOf(going: ReturnType<typeof attempt>) {
  for (let next = await going.next(); ; next = await going.next()) if (next.done === true) return next.value;
}

test("a connection stays open after a whole answer, and is closed by whoever leaves or gives up before", async () => {
  const whole = attempted({});
  await endOf(whole.going);
  expect(whole.given[0]?.connection.aborted).toBe(false);
  const left = attempted({});
  for await (const _ of left.going) break;
  expect([left.given[0]?.connection.aborted, left.caller.signal.aborted]).toEqual([true, false]);
  const failing = attempted({}, () => Promise.reject(new Error("broken")));
  await expect(endOf(failing.going)).rejects.toThrow("broken");
  expect(failing.given[0]?.connection.aborted).toBe(true);
  const given = attempted({}, async () => given.caller.abort("enough"));
  await endOf(given.going);
  expect([given.given[0]?.connection.reason, given.given[0]?.signal.reason]).toEqual(["enough", "enough"]);
});

test("what goes back with an answer stays with it, unless one of the calls that it counts is left out", async () => {
  const carried = { of: "m", parts: [] } as unknown as NonNullable<ProtocolAnswer["carried"]>;
  const made = (args: string) => ({ id: args, name: "bash", arguments: args });
  const of = async (finish: "stop" | "length", ...calls: string[]) =>
    (await endOf(attempted({ carried, finish, toolCalls: calls.map(made) }).going)).reply.carried;
  expect(await of("stop", "{}", "{")).toBe(carried);
  expect(await of("length", "{}")).toBe(carried);
  expect(await of("length", "{}", "{")).toBeUndefined();
});

test("what was written to a cache is counted where there was any", async () => {
  const of = async (cacheWrite?: number) =>
    (await endOf(attempted({ usage: { input: 5, output: 1, cacheWrite } }).going)).reply.usage;
  expect(await of(3)).toMatchObject({ cacheWriteTokens: 3, source: "provider" });
  for (const none of [0, undefined]) expect(await of(none)).not.toHaveProperty("cacheWriteTokens");
});

test("a turn that must not call a tool calls none by its text either, and calls alone are an answer that broke off", async () => {
  const text = '{"name": "bash", "arguments": {}}';
  const config = modelConfigSchema.parse({ name: "m", price });
  const tools = [{ name: "bash", description: "", inputSchema: { type: "object" } }];
  const protocol: Protocol = {
    async *answer() {
      yield { type: "text-delta", text };
      return { text, reasoning: "", toolCalls: [], finish: "stop", usage: {} };
    },
  };
  const calls = async (toolChoice: "auto" | "none") => {
    const request: ModelRequest = { messages: [], tools, toolChoice };
    const { reply } = await endOf(
      attempt({ config, protocol }, request, traitsOf(config), new AbortController().signal),
    );
    return [reply.text, reply.toolCalls.map(({ name }) => name)];
  };
  expect([await calls("none"), await calls("auto")]).toEqual([
    [text, []],
    ["", ["bash"]],
  ]);
  const made = { id: "a", name: "bash", arguments: "{}" };
  const { cut, reply } = await endOf(attempted({ text: "", finish: undefined, toolCalls: [made] }).going);
  expect([cut, reply.finish, reply.toolCalls]).toEqual([true, "length", [made]]);
});
