import { expect, test } from "bun:test";
import { isCompleteObject, parseArguments, writtenObject } from "./arguments.ts";

const understood: [string, string, object][] = [
  ["an object within a string", '"{\\"n\\": 1}"', { n: 1 }],
  ["JSON as it should be", '{"a": [1, "x"]}', { a: [1, "x"] }],
  ["nothing at all, as no arguments", " ", {}],
  ["a trailing comma", '{"a": 1,}', { a: 1 }],
  ["single quotes", "{'command': 'ls'}", { command: "ls" }],
  ["unquoted keys", "{command: 'ls'}", { command: "ls" }],
  ["Python's words", '{"a": True, "b": None}', { a: true, b: null }],
  ["a code fence", '```json\n{"a": 1,}\n```', { a: 1 }],
  ["a fence within blanks", ' \n```json\n{"a": 1,}\n``` ', { a: 1 }],
  ["brackets within strings", `{'a': "}{", "b": '[', }`, { a: "}{", b: "[" }],
  ["quotes within other quotes", `{'a': "it's", "b": 'a "b"',}`, { a: "it's", b: 'a "b"' }],
  ["a string that only looks like an object", '{"a": "{"}', { a: "{" }],
  ["a list within an object", "{'a': [1, [2]],}", { a: [1, [2]] }],
  ["a line break inside a string", '{"code": "a\nb"}', { code: "a\nb" }],
];
test.each(understood)("%s is understood", (_, text, value) => {
  expect(parseArguments(text)).toEqual({ ok: true, value: value as never });
});

const refused: [string, string, string][] = [
  ["a text that stops in a string", '{"path": "a.ts", "file_text": "function a() {}', "ends before its last brace"],
  ["a text that stops between fields", '{"path": "a.ts",', "ends before its last brace"],
  ["a text that stops in a list", "{'a': [1, 2", "ends before its last brace"],
  ["a text that stops after a list", "{'a': [1, 2]", "ends before its last brace"],
  ["a text that stops in single quotes", "{'a': 'x}", "ends before its last brace"],
  ["a text that stops in a list of lists", "{'a': [[1], }", "ends before its last brace"],
  ["a string", '"ls"', "not a string"],
  ["a string that is JSON but no object", '"[1]"', "not a string"],
  ["an array", "[1]", "not an array"],
  ["null", "null", "not null"],
  ["a number", "7", "not a number"],
  ["prose", "list the files please", "must be a JSON object"],
];
test.each(refused)("%s is refused with an actionable message", (_, text, sentence) => {
  const parsed = parseArguments(text);
  if (parsed.ok) throw new Error(`understood as ${JSON.stringify(parsed.value)}`);
  expect(parsed.error).toContain(sentence);
  expect(parsed.error).toContain("Call the tool again");
});

test.each([
  ['{"a":1}', true],
  ["{}", true],
  ['{"a":1', false],
  ["[1]", false],
  ["null", false],
  ["", false],
])("%j is a complete object: %p", (text, complete) => {
  expect(isCompleteObject(text)).toBe(complete);
});

test.each([
  ['Here: {"a": 1} there.', { a: 1 }],
  ["```json\n{'a': 1,}\n```", { a: 1 }],
  ["nothing", undefined],
  ["{ not json", undefined],
  ["{a: [1}", undefined],
])("the object in %j is %j", (text, value) => {
  expect(writtenObject(text)).toEqual(value as { a: number });
});

test("a long text keeps no one waiting: its line breaks are mended, and what is made to take long is refused", () => {
  const content = 'const a = "b";\n'.repeat(2_000);
  const written = JSON.stringify({ path: "a.ts", file_text: content }).replaceAll("\\n", "\n");
  expect(parseArguments(written)).toEqual({ ok: true, value: { path: "a.ts", file_text: content } });
  const began = performance.now();
  for (const one of ["`a", '\\"', "'a ", '"a ']) expect(parseArguments(`{"a":${one.repeat(50_000)}}`).ok).toBe(false);
  expect(performance.now() - began).toBeLessThan(5_000);
});
