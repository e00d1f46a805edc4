import { expect, test } from "bun:test";
import { parseChunk, readAnswer, saysSomething } from "./answer.ts";

/** Reads deltas as a server would stream them. */
async function read(...deltas: object[]) {
  async function* chunks() {
    for (const delta of deltas) yield [parseChunk({ choices: [{ index: 0, delta }] })];
    yield [parseChunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })];
  }
  const reading = readAnswer(chunks());
  const told: string[] = [];
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return { answer: next.value, told };
    if ("text" in next.value) told.push(`${next.value.type}: ${next.value.text}`);
  }
}

const call = (rest: object) => ({ tool_calls: [rest] });

test("a leading think block is reasoning, wherever the stream splits it", async () => {
  const { answer, told } = await read(
    ...["\n<th", "ink>2 + 2", " < 5</th", "ink>\n\nFour", ", not <think>five</think>."].map((content) => ({ content })),
  );
  expect(answer.reasoning).toBe("2 + 2 < 5");
  expect(answer.text).toBe("Four, not <think>five</think>.");
  expect(told).toEqual([
    "reasoning-delta: 2 + 2",
    "reasoning-delta:  < 5",
    "text-delta: Four",
    "text-delta: , not <think>five</think>.",
  ]);
});

test("an unclosed think block, and text that only starts like one, lose nothing", async () => {
  expect((await read({ content: "<think>hm</thi" })).answer).toMatchObject({ reasoning: "hm</thi", text: "" });
  expect((await read({ content: "<thi" })).answer).toMatchObject({ reasoning: "", text: "<thi" });
  expect((await read({ content: " <b>x" })).answer).toMatchObject({ reasoning: "", text: " <b>x" });
  const later = "It says <think>five</think>.";
  expect((await read({ content: later })).answer).toMatchObject({ reasoning: "", text: later });
  const twice = { content: "<think>a</think>b</think>c" };
  expect((await read(twice)).answer).toMatchObject({ reasoning: "a", text: "b</think>c" });
});

test("reasoning comes under either of its two names, and a refusal is text", async () => {
  const { answer } = await read(
    { reasoning_content: "a" },
    { reasoning: "b", content: null },
    { refusal: "I will not." },
  );
  expect(answer).toMatchObject({ reasoning: "ab", text: "I will not." });
});

test("content in parts is their text", async () => {
  const { answer } = await read({ content: [{ type: "text", text: "a" }, { type: "thinking" }] }, { content: "b" });
  expect(answer.text).toBe("ab");
});

test("the older form of a single call is a call", async () => {
  const { answer } = await read(
    { function_call: { name: "bash", arguments: '{"n"' } },
    { function_call: { arguments: ":1}" } },
  );
  expect(answer.toolCalls).toEqual([{ id: "", name: "bash", arguments: '{"n":1}' }]);
});

test("calls without an index are distinguished by id or name", async () => {
  const { answer } = await read(
    call({ id: "x", function: { name: "a", arguments: '{"n":' } }),
    call({ function: { arguments: "1}" } }),
    call({ id: "y", function: { name: "a", arguments: '{"n":2}' } }),
    call({ function: { name: "b", arguments: { n: 3 } } }),
  );
  expect(answer.toolCalls).toEqual([
    { id: "x", name: "a", arguments: '{"n":1}' },
    { id: "y", name: "a", arguments: '{"n":2}' },
    { id: "", name: "b", arguments: '{"n":3}' },
  ]);
});

test("of calls that all claim index 0 the newest goes on", async () => {
  const { answer } = await read(
    call({ index: 0, id: "x", function: { name: "a", arguments: "{}" } }),
    call({ index: 0, id: "y", function: { name: "a", arguments: '{"n"' } }),
    call({ index: 0, function: { arguments: ":2}" } }),
  );
  expect(answer.toolCalls.map((each) => each.arguments)).toEqual(["{}", '{"n":2}']);
});

test("each piece of a call is told with the call it belongs to", async () => {
  async function* chunks() {
    for (const [index, name, text] of [
      [0, "a", "{"],
      [1, "b", "["],
      [0, undefined, "}"],
    ])
      yield [parseChunk({ choices: [{ delta: call({ index, function: { name, arguments: text } }) }] })];
  }
  const told = await Array.fromAsync(readAnswer(chunks()));
  expect(told).toEqual([
    { type: "tool-call-delta", index: 0, name: "a", arguments: "{" },
    { type: "tool-call-delta", index: 1, name: "b", arguments: "[" },
    { type: "tool-call-delta", index: 0, name: "a", arguments: "}" },
  ]);
});

test("calls that all claim index 0 are distinguished, and a repeated name is not a new call", async () => {
  const { answer } = await read(
    call({ index: 0, id: "x", function: { name: "a", arguments: '{"n"' } }),
    call({ index: 0, id: "x", function: { name: "a", arguments: ":1}" } }),
    call({ index: 0, id: "y", function: { name: "a", arguments: "{}" } }),
  );
  expect(answer.toolCalls).toEqual([
    { id: "x", name: "a", arguments: '{"n":1}' },
    { id: "y", name: "a", arguments: "{}" },
  ]);
});

test("interleaved calls keep their own arguments", async () => {
  const { answer } = await read(
    call({ index: 0, id: "x", function: { name: "a", arguments: "{" } }),
    call({ index: 1, id: "y", function: { name: "b", arguments: "[" } }),
    call({ index: 0, function: { arguments: "}" } }),
    call({ index: 1, function: { arguments: "]" } }),
  );
  expect(answer.toolCalls.map((each) => each.arguments)).toEqual(["{}", "[]"]);
});

test.each<[object, boolean]>([
  [{}, false],
  [{ choices: [] }, false],
  [{ usage: { prompt_tokens: 1 } }, false],
  [{ choices: [{ delta: { role: "assistant", content: "" } }] }, false],
  [{ choices: [{ delta: null, message: null }] }, false],
  [{ choices: [{ delta: { content: "x" } }] }, true],
  [{ choices: [{ delta: { refusal: "x" } }] }, true],
  [{ choices: [{ delta: { reasoning: "x" } }] }, true],
  [{ choices: [{ delta: { reasoning_content: "x" } }] }, true],
  [{ choices: [{ delta: { tool_calls: [{ index: 0 }] } }] }, true],
  [{ choices: [{ delta: { function_call: { name: "x" } } }] }, true],
  [{ choices: [{ message: { content: "x" } }] }, true],
  [{ choices: [{ delta: {} }, { delta: { content: "x" } }] }, true],
])("the chunk %j says something: %p", (chunk, says) => {
  expect(saysSomething([parseChunk({}), parseChunk(chunk)])).toBe(says);
});

test("the newest usage and the newest reason to end count, whichever chunk they come with", async () => {
  async function* chunks() {
    yield [parseChunk({ choices: [{ delta: { content: "a" } }], usage: { prompt_tokens: 1 } })];
    yield [parseChunk({ choices: [{ delta: {}, finish_reason: "length" }] })];
    yield [parseChunk({ choices: [{ delta: {}, finish_reason: "" }] })];
    yield [parseChunk({ choices: [{ message: { content: "b" } }], usage: { prompt_tokens: 2 } })];
    yield [parseChunk({ choices: [] })];
  }
  const reading = readAnswer(chunks());
  let next = await reading.next();
  while (next.done !== true) next = await reading.next();
  expect(next.value).toMatchObject({ text: "ab", finish: "length", usage: { prompt_tokens: 2 } });
});

test("a call's id and name may come after its first arguments, and a lone id does not begin another call", async () => {
  const { answer } = await read(
    call({ index: 0, function: { arguments: "{" } }),
    call({ index: 0, id: "x", function: { arguments: "" } }),
    call({ index: 0, function: { name: "a", arguments: "}" } }),
  );
  expect(answer.toolCalls).toEqual([{ id: "x", name: "a", arguments: "{}" }]);
  const renamed = await read(
    call({ index: 0, id: "x", function: { name: "a", arguments: "{" } }),
    call({ index: 0, id: "y", function: { arguments: "}" } }),
    call({ index: 0, function: { name: "a", arguments: " " } }),
  );
  expect(renamed.answer.toolCalls).toEqual([{ id: "x", name: "a", arguments: "{} " }]);
});

test("a name with neither index nor id begins a call, also after an indexed one", async () => {
  const { answer } = await read(
    call({ id: "x", function: { name: "a", arguments: "{}" } }),
    call({ id: "x", function: { name: "a", arguments: " " } }),
    call({ index: 3, function: { name: "b", arguments: "{}" } }),
    call({ index: 3, function: { name: "b", arguments: " " } }),
    call({ index: 4, function: { name: "b", arguments: "{}" } }),
  );
  expect(answer.toolCalls.map(({ name, arguments: text }) => name + text)).toEqual(["a{} ", "b{} ", "b{}"]);
});
