import { afterEach, expect, test } from "bun:test";
import type { ModelEvent, ModelMessage, ModelRequest } from "../../core/model.ts";
import { type ScriptedModel, type ScriptedReply, startScriptedModel } from "../../testing/models/scripted-model.ts";
import { modelConfigSchema } from "../config.ts";
import { createModel } from "../create-model.ts";
import type { ModelAnswer } from "./answer.ts";
import { type ChatMessage, chatText } from "./chat-protocol.ts";
import { asPromptRequest } from "./prompt-tools.ts";
import { hideCalls, takeCalls } from "./text-calls.ts";

let server: ScriptedModel | undefined;
afterEach(async () => {
  await server?.close();
});

const request: ModelRequest = {
  messages: [
    { role: "system", text: "You are Manus." },
    { role: "user", parts: [{ type: "text", text: "Count the files." }] },
    {
      role: "assistant",
      text: "Looking.",
      toolCalls: [
        { id: "call_1", name: "bash", arguments: '{"command":"ls"}' },
        { id: "call_2", name: "bash", arguments: '{"command":"pwd"}' },
      ],
    },
    { role: "tool", callId: "call_1", name: "bash", text: "a.txt", isError: false },
    { role: "tool", callId: "call_2", name: "bash", text: "no such command", isError: true },
  ],
  tools: [{ name: "bash", description: "Runs a command.", inputSchema: { type: "object", required: ["command"] } }],
  toolChoice: "required",
};

async function ask(
  answer: ScriptedReply,
): Promise<{ events: ModelEvent[]; sent: readonly ChatMessage[]; body: object }> {
  server = await startScriptedModel([answer]);
  const config = { name: "small", baseUrl: server.url, capabilities: { tools: false } };
  const model = createModel(modelConfigSchema.parse(config));
  const events: ModelEvent[] = [];
  for await (const event of model.ask(request, { signal: new AbortController().signal })) events.push(event);
  const body = server.requests[0]?.body;
  if (body === undefined) throw new Error("nothing was asked");
  return { events, sent: body.messages, body };
}

const block = (json: string) => `\`\`\`tool_call\n${json}\n\`\`\``;

test("tools, calls and results go to a model without function calling as plain text", async () => {
  const { sent, body } = await ask({ text: "ok" });
  expect(body).not.toHaveProperty("tools");
  expect(body).not.toHaveProperty("tool_choice");
  expect(sent.map((message) => message.role)).toEqual(["system", "user", "assistant", "user"]);
  const [system, , assistant, results] = sent.map(chatText);
  expect(system).toStartWith("You are Manus.");
  expect(system).toContain("## bash\nRuns a command.");
  expect(system).toContain("must call at least one tool");
  expect(assistant).toBe(
    `Looking.\n\n${block('{"name": "bash", "arguments": {"command":"ls"}}')}\n\n${block('{"name": "bash", "arguments": {"command":"pwd"}}')}`,
  );
  expect(results).toBe("Result of bash (call_1):\na.txt\nResult of bash (call_2):\nError: no such command");
});

test("calls in its text become tool calls, and are not emitted as text", async () => {
  const text = `I list them.\n\n${block('{"name": "bash", "arguments": {"command": "ls -a"}}')}\n`;
  const { events } = await ask({ text });
  const told = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
  expect(told.join("")).toBe("I list them.");
  expect(told.length).toBeGreaterThan(1);
  expect(events.filter((event) => event.type === "tool-call-delta")).toEqual([
    { type: "tool-call-delta", index: 0, name: "bash", arguments: '{"command":"ls -a"}' },
  ]);
  expect(events.at(-1)).toMatchObject({
    reply: {
      text: "I list them.",
      finish: "tool-calls",
      toolCalls: [{ id: "call_3", name: "bash", arguments: '{"command":"ls -a"}' }],
    },
  });
});

test("text with code that is not a call passes through whole", async () => {
  const text = 'Use this:\n```json\n{"name": "my-package"}\n```\nand `a < b`.';
  const { events } = await ask({ text });
  const told = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
  expect(told.join("")).toBe(text);
  expect(events.at(-1)).toMatchObject({ reply: { text, finish: "stop", toolCalls: [] } });
});

test("a truncated call is left out of the reply", async () => {
  const { events } = await ask({
    text: '```tool_call\n{"name": "bash", "arguments": {"command": "rm',
    finish: "length",
  });
  expect(events.at(-1)).toMatchObject({ reply: { finish: "length", toolCalls: [] } });
});

const written: [string, string, object][] = [
  [
    "a json block that names a tool",
    '```json\n{"name": "bash", "arguments": {"a": 1}}\n```',
    { name: "bash", arguments: '{"a":1}' },
  ],
  [
    "a tagged call",
    '<tool_call>{"name": "bash", "arguments": {"a": 1}}</tool_call>',
    { name: "bash", arguments: '{"a":1}' },
  ],
  ["a block without its end", '```tool_call\n{"name": "bash", "arguments": {}}', { name: "bash", arguments: "{}" }],
  [
    "a slip that can be fixed",
    block("{'name': 'bash', 'arguments': {'a': 1,}}"),
    { name: "bash", arguments: '{"a":1}' },
  ],
  [
    "parameters for arguments",
    block('{"name": "bash", "parameters": {"a": 1}}'),
    { name: "bash", arguments: '{"a":1}' },
  ],
  ["a fence inside a string", block('{"name": "bash", "arguments": {"a": "```\\nb\\n```"}}'), { name: "bash" }],
  [
    "a call that stops after a bracket of its own",
    block('{"name": "bash", "arguments": {"a": {}, "text": "half'),
    { name: "bash", arguments: '{"name": "bash", "arguments": {"a": {}, "text": "half' },
  ],
  [
    "a call beyond repair",
    block('{"name": "bash", "arguments": oh no'),
    { name: "bash", arguments: '{"name": "bash", "arguments": oh no' },
  ],
];
test.each(written)("%s counts as a call", (_, text, call) => {
  const taken = takeCalls(`Before.\n${text}`, ["bash"]);
  expect(taken.text).toBe("Before.");
  expect(taken.toolCalls).toHaveLength(1);
  expect(taken.toolCalls[0]).toMatchObject(call);
});

test("several calls keep their order", () => {
  const text = ["a", "b", "c"].map((name) => block(`{"name": "${name}", "arguments": {}}`)).join("\nthen\n");
  expect(takeCalls(text, []).toolCalls.map((call) => call.name)).toEqual(["a", "b", "c"]);
});

test("an answer of blanks is passed on in linear time", async () => {
  const blanks = " ".repeat(100_000);
  async function* answer(): AsyncGenerator<Exclude<ModelEvent, { type: "retry" | "reply" }>, ModelAnswer> {
    for (const text of [blanks, blanks, "x"]) yield { type: "text-delta", text };
    return { text: `${blanks}${blanks}x`, toolCalls: [] } as unknown as ModelAnswer;
  }
  const begun = performance.now();
  const told = await Array.fromAsync(hideCalls(answer(), []));
  expect(told.map((delta) => (delta.type === "text-delta" ? delta.text : "")).join("")).toBe(`${blanks}${blanks}x`);
  expect(performance.now() - begun).toBeLessThan(10_000);
});

const call = (id: string, name: string, text = "{}") => ({ id, name, arguments: text });
const spec = { name: "ls", description: "Lists.", inputSchema: { type: "object" } };
const said = (text: string) => ({ role: "user", parts: [{ type: "text", text }] }) as const;
const asked = (messages: readonly ModelMessage[], toolChoice: ModelRequest["toolChoice"] = "auto", tools = [spec]) =>
  asPromptRequest({ messages, tools, toolChoice });
const systemOf = (request: ModelRequest) => {
  const [first] = request.messages;
  return first?.role === "system" ? first.text : undefined;
};

test.each<[ModelRequest["toolChoice"], readonly string[], readonly string[]]>([
  ["auto", ["your text is your final answer"], ["at least one tool", "must call the tool"]],
  ["required", ["at least one tool"], ["your text is your final answer", "must call the tool"]],
  [{ name: "ls" }, ["This time you must call the tool ls."], ["your text is your final answer", "at least one tool"]],
])("with the choice %j the tools are described with what it means, after the system text", (choice, says, not) => {
  const text = systemOf(asked([{ role: "system", text: "Be brief." }, said("Go")], choice)) ?? "";
  expect(text).toStartWith("Be brief.\n\nYou can call tools.");
  for (const words of [...says, "```tool_call", "Never write a result yourself", "The tools:", "## ls\nLists."])
    expect(text).toContain(words);
  for (const words of not) expect(text).not.toContain(words);
  expect(systemOf(asked([said("Go")], choice))).toStartWith("You can call tools.");
});

test("no tools are described where none is there or none may be called, and the messages stay", () => {
  const messages = [said("Go")];
  expect(asked(messages, "none")).toEqual({ messages, tools: [], toolChoice: "none" });
  expect(asked(messages, "auto", [])).toEqual({ messages, tools: [], toolChoice: "auto" });
  expect(asked(messages).messages.slice(1)).toEqual(messages);
  const limits = { maxOutputTokens: 9, temperature: 0 };
  expect(asPromptRequest({ messages, tools: [spec], toolChoice: "auto", ...limits })).toMatchObject(limits);
});

test("calls become blocks, and the results of a turn one message, with their images", () => {
  const image = { type: "image", mediaType: "image/png", data: "AA==" } as const;
  const messages: ModelMessage[] = [
    { role: "assistant", text: "", toolCalls: [call("1", "ls"), call("2", "cat", "")] },
    { role: "tool", callId: "1", name: "ls", text: "a", isError: false, images: [image] },
    { role: "tool", callId: "2", name: "cat", text: "gone", isError: true },
    { role: "assistant", text: "Done.", toolCalls: [] },
  ];
  expect(asked(messages, "none").messages).toEqual([
    {
      role: "assistant",
      text: '```tool_call\n{"name": "ls", "arguments": {}}\n```\n\n```tool_call\n{"name": "cat", "arguments": {}}\n```',
      toolCalls: [],
    },
    {
      role: "user",
      parts: [
        { type: "text", text: "Result of ls (1):\na" },
        image,
        { type: "text", text: "Result of cat (2):\nError: gone" },
      ],
    },
    { role: "assistant", text: "Done.", toolCalls: [] },
  ]);
});

/** What an answer in these pieces shows as text, and the calls in it. */
async function hidden(pieces: readonly string[]) {
  async function* deltas() {
    for (const text of pieces) yield { type: "text-delta", text } as const;
    return { text: pieces.join(""), reasoning: "", toolCalls: [], finish: "stop", usage: undefined };
  }
  const hiding = hideCalls(deltas(), ["ls"]);
  let shown = "";
  for (;;) {
    const next = await hiding.next();
    if (next.done === true) return { shown, answer: next.value };
    if (next.value.type === "text-delta") {
      expect(next.value.text).not.toBe("");
      shown += next.value.text;
    }
  }
}

test("reasoning passes through beside the text, and with both kinds of calls the first ends it", async () => {
  const text = 'Look. <tool_call>{"name": "ls"}</tool_call> and\n```tool_call\n{"name": "ls"}\n```';
  async function* deltas() {
    yield { type: "reasoning-delta", text: "Hm." } as const;
    yield { type: "text-delta", text } as const;
    return { text, reasoning: "Hm.", toolCalls: [], finish: "stop", usage: undefined };
  }
  const told = await Array.fromAsync(hideCalls(deltas(), ["ls"]));
  expect(told.slice(0, 2)).toEqual([
    { type: "reasoning-delta", text: "Hm." },
    { type: "text-delta", text: "Look." },
  ]);
  expect(told.map((each) => each.type).filter((type) => type === "tool-call-delta")).toHaveLength(2);
});

const answers = [
  'Look: ```tool_call\n{"name": "ls", "arguments": {}}\n```',
  'First.\n\n```tool_call\n{"name": "ls"}\n```\nLast.',
  '<tool_call>{"name": "ls"}</tool_call>',
  "Plain `code` and ```js\nx < y\n```  \n",
  "1 < 2 and <b>bold</b>",
  '```json\n{"name": "rm"}\n```',
];
test.each(answers)("however %j is cut into pieces, its text is shown once and its calls are not", async (answer) => {
  const whole = await hidden([answer]);
  for (let at = 1; at < answer.length; at++)
    for (const pieces of [
      [answer.slice(0, at), answer.slice(at)],
      [answer.slice(0, at), ...answer.slice(at)],
    ]) {
      const split = await hidden(pieces);
      expect(split.answer).toEqual(whole.answer);
      if (split.answer.toolCalls.length === 0) expect(split.shown).toBe(answer);
      else expect(split.answer.text.startsWith(split.shown.trimEnd())).toBe(true);
    }
});

test("a block that cannot be read is a call all the same, under the name it has or none", () => {
  expect(takeCalls('```tool_call\n{"name": "ls", "arguments": \n```', ["ls"]).toolCalls[0]?.name).toBe("ls");
  expect(takeCalls("```tool_call\nls please\n```", ["ls"]).toolCalls).toEqual([call("", "tool_call", "ls please")]);
  expect(takeCalls("```json\nnot json\n```", ["ls"])).toEqual({ text: "```json\nnot json\n```", toolCalls: [] });
  expect(takeCalls("  text  ", ["ls"])).toEqual({ text: "  text  ", toolCalls: [] });
});

test("a model that has to call a tool is held to the schema of its calls, and not where the server refuses", async () => {
  const script = await startScriptedModel((body) =>
    "response_format" in body && script.requests.length > 1
      ? { status: 400, error: { message: "'response_format' is not supported" } }
      : { text: '{"name": "bash", "arguments": {"command": "ls"}}' },
  );
  server = script;
  const model = createModel({ name: "small", baseUrl: script.url, capabilities: { tools: false } });
  const ask = async (toolChoice: ModelRequest["toolChoice"]) => {
    const events = await Array.fromAsync(
      model.ask({ ...request, toolChoice }, { signal: new AbortController().signal }),
    );
    const last = events.at(-1);
    return last?.type === "reply" ? last.reply.toolCalls.map(({ name }) => name) : [];
  };
  expect(await ask({ name: "bash" })).toEqual(["bash"]);
  const [first] = script.requests;
  expect(first?.body).toMatchObject({
    response_format: {
      type: "json_schema",
      json_schema: { schema: { properties: { name: { const: "bash" }, arguments: { required: ["command"] } } } },
    },
  });
  expect(await ask("required")).toEqual(["bash"]);
  expect(script.requests.map(({ body }) => "response_format" in body)).toEqual([true, true, false]);
  await ask("auto");
  expect(script.requests.at(-1)?.body).not.toHaveProperty("response_format");
});

test("a call that has to be made has the schema of its tool, or of any of them", () => {
  const other = { ...spec, name: "other" };
  const schemaOf = (choice: ModelRequest["toolChoice"]) =>
    JSON.stringify(asked([], choice, [spec, other]).answerSchema ?? null);
  const names = (text: string) => [...text.matchAll(/"const":"(\w+)"/g)].map(([, name]) => name);
  expect([names(schemaOf("required")), names(schemaOf({ name: "other" })), schemaOf("auto"), schemaOf("none")]).toEqual(
    [[spec.name, "other"], ["other"], "null", "null"],
  );
});
