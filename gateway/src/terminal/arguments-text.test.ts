import { expect, test } from "bun:test";
import { argumentsText, callText } from "./arguments-text.ts";

test.each([
  ['{"command":"ls  -l"}', "ls -l"],
  ['{"count":3}', "3"],
  ['{"a":"x","b":2}', "a=x b=2"],
  ["{}", ""],
  ["[1,2]", "[1,2]"],
  ["null", "null"],
  ['"text"', '"text"'],
  ['{"cut":"in the mid', '{"cut":"in the mid'],
  [JSON.stringify({ a: "x".repeat(50), b: "y" }), `a=${"x".repeat(19)}… b=y`],
  [JSON.stringify({ a: "1".repeat(20), b: 2, c: 3, d: 4, e: 5 }), "a=11111111111… b=2 c=3 d=4 e=5"],
  [JSON.stringify({ a: "x".repeat(50) }), `${"x".repeat(39)}…`],
])("in 40 columns the arguments %s are shown as %j", (json, shown) => {
  expect(argumentsText(json, 40)).toBe(shown);
});

test.each([
  ['bash {"command":"cat a\\ncat b"}', "bash cat a cat b"],
  ['search {"pattern":"total","path":"."}', "search pattern=total path=."],
  ['bash {"command":"echo \\"x\\" an', 'bash echo "x" an'],
  ['wait {"seconds":30,"why":"it', "wait 30 it"],
  ['It said bash {"command":"ls"}', 'It said bash {"command":"ls"}'],
  ["Thinking about it", "Thinking about it"],
  [`bash ${JSON.stringify({ command: "x".repeat(50) })}`, `bash ${"x".repeat(34)}…`],
])("in 40 columns the line %s is shown as %j", (line, shown) => {
  expect(callText(line, 40)).toBe(shown);
});
