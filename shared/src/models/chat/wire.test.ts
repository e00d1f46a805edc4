import { expect, test } from "bun:test";
import type { ModelMessage, ModelRequest } from "../../core/model.ts";
import { traitsOf } from "../capabilities.ts";
import { modelConfigSchema } from "../config.ts";
import { chatBody, chatParams, resultText } from "./wire.ts";

const image = { type: "image", mediaType: "image/png", data: "aGk=" } as const;
const tools = [
  { name: "bash", description: "Runs.", inputSchema: { $schema: "https://json-schema.org/x", type: "object" } },
];

function params(config: object, request: Partial<ModelRequest> = {}) {
  const parsed = modelConfigSchema.parse({ name: "unknown-model", ...config });
  return chatParams({ messages: [], tools: [], toolChoice: "auto", ...request }, parsed, traitsOf(parsed));
}

const turn: readonly ModelMessage[] = [
  { role: "system", text: "Be brief." },
  { role: "user", parts: [{ type: "text", text: "What is this?" }, image] },
  {
    role: "assistant",
    text: "",
    toolCalls: [
      { id: "a", name: "screenshot", arguments: "" },
      { id: "b", name: "bash", arguments: "{'command': 'ls'" },
    ],
  },
  { role: "tool", callId: "a", name: "screenshot", text: "done", isError: false, images: [image] },
  { role: "tool", callId: "b", name: "bash", text: "not found", isError: true },
  { role: "assistant", text: "A cat.", toolCalls: [] },
];

test("a model with vision gets images as data URLs, those of tools after all results of the turn", () => {
  const url = { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } };
  expect(params({ capabilities: { vision: true } }, { messages: turn }).messages as unknown[]).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "What is this?" }, url] },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "a", type: "function", function: { name: "screenshot", arguments: "{}" } },
        { id: "b", type: "function", function: { name: "bash", arguments: `{"unreadable":"{'command': 'ls'"}` } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: "done" },
    { role: "tool", tool_call_id: "b", content: "Error: not found" },
    { role: "user", content: [{ type: "text", text: "Images from screenshot (a):" }, url] },
    { role: "assistant", content: "A cat." },
  ]);
});

test("a model without vision gets plain strings that say where images were", () => {
  const { messages } = params({}, { messages: turn });
  expect(messages[1]?.content).toBe("What is this?\n[an image was here; this model cannot see images]");
  expect(JSON.stringify(messages)).not.toContain("base64");
  expect(JSON.stringify(messages.at(-2))).toContain("screenshot: [an image was here");
});

test("tools are sent without their schema's dialect, and a tool choice only if it matters", () => {
  const plain = params({}, { tools });
  expect(plain.tools).toEqual([
    { type: "function", function: { name: "bash", description: "Runs.", parameters: { type: "object" } } },
  ]);
  expect(plain).not.toHaveProperty("tool_choice");
  expect(plain).not.toHaveProperty("parallel_tool_calls");
  expect(params({}, { tools, toolChoice: "required" }).tool_choice).toBe("required");
  expect(params({}, { tools, toolChoice: { name: "bash" } }).tool_choice).toEqual({
    type: "function",
    function: { name: "bash" },
  });
  expect(params({}, { toolChoice: "required" })).not.toHaveProperty("tool_choice");
  expect(params({ capabilities: { parallelToolCalls: false } }, { tools }).parallel_tool_calls).toBe(false);
});

test("a reasoning model gets its own token parameter, an effort and no temperature; others get a temperature of 0 too", () => {
  const reasoning = params({ name: "o3-mini", temperature: 0.5, maxOutputTokens: 100, reasoningEffort: "low" });
  expect(reasoning).toMatchObject({ max_completion_tokens: 100, reasoning_effort: "low" });
  expect(reasoning).not.toHaveProperty("temperature");
  expect(reasoning).not.toHaveProperty("max_tokens");
  expect(params({ temperature: 0, maxOutputTokens: 100 })).toMatchObject({ temperature: 0, max_tokens: 100 });
  expect(params({ temperature: 1 }, { temperature: 0, maxOutputTokens: 5 })).toMatchObject({
    temperature: 0,
    max_tokens: 5,
  });
  expect(params({})).not.toHaveProperty("max_tokens");
});

/** The request to a model with these traits. */
const withTraits = (traits: object, request: Partial<ModelRequest> = {}) => {
  const config = modelConfigSchema.parse({ name: "unknown-model" });
  return chatParams({ messages: [], tools: [], toolChoice: "auto", ...request }, config, {
    ...traitsOf(config),
    ...traits,
  });
};

test.each([
  [true, true, { include_usage: true }],
  [true, false, undefined],
  [false, true, undefined],
  [false, false, undefined],
])("with streams (%p) and their usage (%p) the options of the stream are %j", (stream, streamUsage, options) => {
  const sent = withTraits({ stream, streamUsage });
  expect([sent.stream, sent.stream_options]).toEqual([stream, options]);
});

test.each([
  ["auto", true, undefined],
  ["auto", false, undefined],
  ["none", true, "none"],
  ["none", false, "none"],
  ["required", true, "required"],
  ["required", false, undefined],
] as const)("the choice %s, where forcing tools is possible (%p), is sent as %p", (toolChoice, forcedTools, sent) => {
  expect(withTraits({ forcedTools }, { tools, toolChoice }).tool_choice).toBe(sent);
});

test.each([
  ["done", false, "done"],
  ["error: done", false, "error: done"],
  ["not found", true, "Error: not found"],
  ["Error 5", true, "Error 5"],
  ["errors there are", true, "Error: errors there are"],
  ["one\ntwo", true, "Error:\none\ntwo"],
])("the result %j of a call that failed (%p) reads %j", (text, isError, read) => {
  expect(resultText({ text, isError })).toBe(read);
});

test("images of results come before the next message, and the words of a turn with calls are kept", () => {
  const vision = { vision: true };
  const call = { id: "a", name: "look", arguments: "{}" };
  const { messages } = withTraits(vision, {
    messages: [
      { role: "assistant", text: "I look.", toolCalls: [call] },
      { role: "tool", callId: "a", name: "look", text: "seen", isError: false, images: [image] },
      { role: "user", parts: [{ type: "text", text: "And now?" }] },
    ],
  });
  expect(messages.map(({ role, content }) => [role, typeof content === "string" ? content : "parts"])).toEqual([
    ["assistant", "I look."],
    ["tool", "seen"],
    ["user", "parts"],
    ["user", "And now?"],
  ]);
});

test("the JSON of a conversation that grows, shrinks or changes is that of its parameters", () => {
  const config = modelConfigSchema.parse({ name: "gpt-4o", temperature: 0.5 });
  const traits = traitsOf(config);
  const next: readonly ModelMessage[] = [
    { role: "user", parts: [{ type: "text", text: "And this?" }] },
    { role: "assistant", text: "", toolCalls: [{ id: "c", name: "bash", arguments: "{}" }] },
    { role: "tool", callId: "c", name: "bash", text: "ok", isError: false, images: [image] },
  ];
  const changed = turn.with(3, { role: "tool", callId: "a", name: "screenshot", text: "it was", isError: false });
  const conversations = [
    turn.slice(0, 2),
    turn.slice(0, 5),
    turn,
    [...turn, ...next.slice(0, 1)],
    [...turn, ...next],
    [...changed, ...next],
    changed,
    turn,
    turn.slice(1, 2),
    [],
  ];
  const blind = { ...traits, vision: false };
  const inOneState = [traits, blind].flatMap((each) => conversations.map((messages) => ({ messages, each })));
  const inTurns = conversations.flatMap((messages) => [traits, blind].map((each) => ({ messages, each })));
  for (const { messages, each } of [...inOneState, ...inTurns]) {
    const request = { messages, tools, toolChoice: "required" as const, maxOutputTokens: 9 };
    const text = chatBody(request, config, each);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(chatParams(request, config, each))));
  }
});

test("half of a surrogate pair, for which an endpoint refuses every further request, is replaced wherever it stands", () => {
  const config = modelConfigSchema.parse({ name: "gpt-4o" });
  const half = "\ud83d";
  const call = { id: "c", name: `bash${half}`, arguments: '{"command":"echo \\ud83d","n":"\\ud83d\\ude00"}' };
  const messages: readonly ModelMessage[] = [
    { role: "user", parts: [{ type: "text", text: `a${half}b` }] },
    { role: "assistant", text: half, toolCalls: [call] },
    { role: "tool", callId: "c", name: "bash", text: half, isError: false },
  ];
  const described = [{ name: "t", description: half, inputSchema: { type: "object", [`x${half}`]: 1 } }];
  const request = { messages, tools: described, toolChoice: "auto" as const };
  const body = JSON.parse(chatBody(request, config, traitsOf(config)));
  expect(chatBody(request, config, traitsOf(config))).not.toMatch(/\\ud8/i);
  expect(body.messages[0].content).toBe("a\ufffdb");
  expect(JSON.parse(body.messages[1].tool_calls[0].function.arguments)).toEqual({ command: "echo \ufffd", n: "😀" });
  expect(body.tools[0].function.parameters).toEqual({ type: "object", "x\ufffd": 1 });
});

test("what a request asks for is before what is configured, for the length of the answer too", () => {
  const both = params({ temperature: 1, maxOutputTokens: 100 }, { temperature: 0.5, maxOutputTokens: 5 });
  expect(both).toMatchObject({ temperature: 0.5, max_tokens: 5 });
});

test("how closely an image is looked at is told where it is set", () => {
  const user: ModelMessage = { role: "user", parts: [image] };
  const detail = (imageDetail: "low" | "high" | "auto") =>
    JSON.stringify(params({ imageDetail, capabilities: { vision: true } }, { messages: [user] }).messages);
  expect([detail("low").includes('"detail":"low"'), detail("high").includes('"detail":"high"')]).toEqual([true, true]);
  expect(detail("auto")).not.toContain("detail");
});
