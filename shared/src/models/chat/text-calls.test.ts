import { expect, test } from "bun:test";
import type { ModelEvent, ModelRequest } from "../../core/model.ts";
import { startScriptedModel } from "../../testing/models/scripted-model.ts";
import { createModel } from "../create-model.ts";
import { calledInText, onlyCalls, takeCalls } from "./text-calls.ts";

const tools = ["bash", "python_execute"].map((name) => ({ name, description: "", inputSchema: { type: "object" } }));
const names = tools.map(({ name }) => name);

async function answerOf(text: string, more: object = {}, toolChoice: ModelRequest["toolChoice"] = "auto") {
  const server = await startScriptedModel([{ text, ...more }]);
  await using _ = { [Symbol.asyncDispose]: () => server.close() };
  const model = createModel({ name: "small", baseUrl: server.url });
  const messages = [{ role: "user", parts: [{ type: "text", text: "List the files." }] }] as const;
  const events: ModelEvent[] = [];
  const signal = new AbortController().signal;
  for await (const event of model.ask({ messages, tools, toolChoice }, { signal })) events.push(event);
  const told = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : [])).join("");
  const last = events.at(-1);
  if (last?.type !== "reply") throw new Error("no reply");
  return { told, reply: last.reply };
}

const ls = '{"name": "bash", "arguments": {"command": "ls"}}';
const spelled: [string, string][] = [
  ["a block of JSON", `\`\`\`json\n${ls}\n\`\`\``],
  ["a block without a language", `\`\`\`\n${ls}\n\`\`\``],
  ["JSON alone", `\n${ls}\n`],
  ["a list of calls", `[${ls}]`],
  ["the shape of the API", `{"type": "function", "function": ${ls}}`],
  ["parameters", '{"name": "bash", "parameters": {"command": "ls"}}'],
  ["arguments as a text", '{"name": "bash", "arguments": "{\\"command\\":\\"ls\\"}"}'],
  ["Hermes's and Qwen's tag", `<tool_call>\n${ls}\n</tool_call>`],
  ["a tag that is not closed", `<tool_call>\n${ls}`],
  ["Llama's tag", '<function=bash>{"command": "ls"}</function>'],
  [
    "Qwen Coder's tags",
    "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>",
  ],
  ["a tag with attributes", '<function name="bash"><parameter name="command">ls</parameter></function>'],
  ["Mistral's mark", `[TOOL_CALLS][${ls}]`],
  ["Llama's mark", `<|python_tag|>${ls}<|eom_id|>`],
];

test.each(spelled)("an answer that is nothing but a call is one, written as %s", async (_, text) => {
  const { told, reply } = await answerOf(text);
  expect(reply.toolCalls).toHaveLength(1);
  expect(reply.toolCalls[0]).toMatchObject({ id: "call_1", name: "bash" });
  expect(JSON.parse(reply.toolCalls[0]?.arguments ?? "")).toEqual({ command: "ls" });
  expect({ told, text: reply.text, finish: reply.finish }).toEqual({ told: "", text: "", finish: "tool-calls" });
});

test("several calls in one answer keep their order and their types", async () => {
  const tagged = (count: string) =>
    `<function=python_execute>\n<parameter=code>\nprint("1")\n</parameter>\n<parameter=count>\n${count}\n</parameter>\n</function>`;
  const { reply } = await answerOf(`<tool_call>${tagged("1")}</tool_call>\n<tool_call>${tagged("2")}</tool_call>`);
  expect(reply.toolCalls.map((call) => JSON.parse(call.arguments))).toEqual([
    { code: 'print("1")', count: 1 },
    { code: 'print("1")', count: 2 },
  ]);
});

const answers: [string, string][] = [
  ["prose before a call", `I would run:\n\`\`\`json\n${ls}\n\`\`\``],
  ["prose after a call", `\`\`\`json\n${ls}\n\`\`\`\nis what I would run.`],
  ["a call of no known tool", '{"name": "rm", "arguments": {}}'],
  ["one known call and one unknown", `[${ls}, {"name": "rm", "arguments": {}}]`],
  ["JSON that was asked for", '{"name": "Ada", "born": 1815}'],
  ["a block of code", "```python\nprint(1)\n```"],
  ["a list of texts", '["bash"]'],
  ["a tag of HTML", "<b>done</b>"],
];

test.each(answers)("%s is an answer", async (_, text) => {
  const { told, reply } = await answerOf(text);
  expect({ told, text: reply.text, calls: reply.toolCalls }).toEqual({ told: text, text, calls: [] });
});

test("a proper call counts, whatever the text beside it looks like", async () => {
  const { told, reply } = await answerOf(ls, { calls: [{ id: "a", name: "bash", args: { command: "pwd" } }] });
  expect(reply.toolCalls).toEqual([{ id: "a", name: "bash", arguments: '{"command":"pwd"}' }]);
  expect(told).toBe(ls);
});

test("where no tool may be called, nothing is read as a call", async () => {
  expect((await answerOf(ls, {}, "none")).reply).toMatchObject({ text: ls, toolCalls: [] });
});

test("text that is no call is shown as it arrives", async () => {
  const { told } = await answerOf("The files are a.txt and b.txt. ".repeat(20));
  expect(told).toBe("The files are a.txt and b.txt. ".repeat(20));
});

test("a call in the midst of a text is found, and is not the whole of it", () => {
  const text = `First I list the files:\n<tool_call>${ls}</tool_call>`;
  expect([calledInText(text, names), onlyCalls(text, names)]).toEqual(["bash", []]);
  expect(calledInText("bash would list them", names)).toBeUndefined();
  const unknown = '<tool_call>{"name": "nobody", "arguments": {}}</tool_call>';
  expect([calledInText(unknown, names), onlyCalls(unknown, names)]).toEqual([undefined, []]);
});

test("a text in quotes keeps them as an argument in a tag: they are part of the code", async () => {
  const { reply } = await answerOf('<function=python_execute><parameter=code>"a text"</parameter></function>');
  expect(reply.toolCalls.map((call) => JSON.parse(call.arguments))).toEqual([{ code: '"a text"' }]);
});

test("a text that is the call of no tool there is stays text, whole or in a block", () => {
  for (const text of ['{"name": "nobody", "arguments": {}}', 'So:\n```json\n{"name": "nobody", "arguments": {}}\n```'])
    expect(takeCalls(text, names)).toEqual({ text, toolCalls: [] });
});
