import { expect, test } from "bun:test";
import { parseArguments } from "./arguments.ts";

const understood: [string, string, object][] = [
  ["an object within a string", '"{\\"n\\": 1}"', { n: 1 }],
  ["JSON as it should be", '{"a": [1, "x"]}', { a: [1, "x"] }],
  ["nothing at all, as no arguments", " ", {}],
  ["a trailing comma", '{"a": 1,}', { a: 1 }],
  ["single quotes", "{'command': 'ls'}", { command: "ls" }],
  ["unquoted keys", "{command: 'ls'}", { command: "ls" }],
  ["Python's words", '{"a": True, "b": None}', { a: true, b: null }],
  ["a code fence", '```json\n{"a": 1,}\n```', { a: 1 }],
  ["a line break inside a string", '{"code": "a\nb"}', { code: "a\nb" }],
];
test.each(understood)("%s is understood", (_, text, value) => {
  expect(parseArguments(text)).toEqual({ ok: true, value: value as never });
});

const refused: [string, string, string][] = [
  ["a text that stops in a string", '{"path": "a.ts", "file_text": "function a() {}', "ends before its last brace"],
  ["a text that stops between fields", '{"path": "a.ts",', "ends before its last brace"],
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
