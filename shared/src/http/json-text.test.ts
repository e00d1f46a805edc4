import { expect, test } from "bun:test";
import { isTooDeep } from "../core/json.ts";
import { JsonTextError, numberText, parseJsonBytes } from "./json-text.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const fault = (input: Uint8Array) => {
  try {
    parseJsonBytes(input);
    return "none";
  } catch (error) {
    return error instanceof JsonTextError ? error.fault : error;
  }
};

test("JSON is read, whatever its strings look like", () => {
  const value = { text: '[[["\\{{{', list: [{ é: [1, null] }] };
  expect(parseJsonBytes(bytes(JSON.stringify(value)))).toEqual(value);
});

test("invalid UTF-8 and invalid JSON are syntax errors", () => {
  expect(fault(new Uint8Array([0x22, 0xff, 0x22]))).toBe("syntax");
  expect(fault(bytes("{"))).toBe("syntax");
  expect(fault(bytes(""))).toBe("syntax");
});

test("100 levels of nesting are accepted, 101 are refused, and 200,000 are refused before parsing", () => {
  const nested = (depth: number) => bytes("[".repeat(depth) + "]".repeat(depth));
  expect(fault(nested(100))).toBe("none");
  expect(fault(nested(101))).toBe("depth");
  expect(fault(nested(200_000))).toBe("depth");
});

test("brackets inside a string are not nesting, whatever is escaped before them, and brackets after it are", () => {
  const quoted = { text: `say "${"[".repeat(200)}` };
  expect(parseJsonBytes(bytes(JSON.stringify(quoted)))).toEqual(quoted);
  const ends = (text: string) => fault(bytes(`[${JSON.stringify(text)},${"[".repeat(100)}${"]".repeat(100)}]`));
  expect(['a "', "a \\", 'a \\"', "a"].map(ends)).toEqual(["depth", "depth", "depth", "depth"]);
});

test("__proto__ is a key like any other", () => {
  const value = parseJsonBytes(bytes('{"__proto__":{"polluted":true}}'));
  expect(Object.hasOwn(value as object, "__proto__")).toBe(true);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test.each<[string, string | undefined]>([
  ['{"id":12345678901234567890,"n":1}', "12345678901234567890"],
  ['{"id":1.50}', "1.50"],
  ['{"id":"7"}', undefined],
  ['{"id":null}', undefined],
  ['{"n":7}', undefined],
  ['{"params":{"id":7}}', undefined],
  ['{"params":{"id":7},"id":8}', "8"],
  ["7", undefined],
  ["null", undefined],
])("the number `id` of %s is %p as it was written", (text, written) => {
  expect(numberText(bytes(text), "id")).toBe(written as string);
});

test("a value is too deep from the hundred and first level on", () => {
  const nested = (depth: number): unknown => (depth === 0 ? null : { a: 1, b: nested(depth - 1) });
  expect([isTooDeep(nested(100)), isTooDeep(nested(101)), isTooDeep("text"), isTooDeep(null)]).toEqual([
    false,
    true,
    false,
    false,
  ]);
});

test("braces count as levels like brackets, and one after the other is no nesting", () => {
  const objects = (depth: number) => bytes(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
  expect([fault(objects(100)), fault(objects(101))]).toEqual(["none", "depth"]);
  expect(fault(bytes(`[${Array(300).fill('{"a":[]}').join(",")}]`))).toBe("none");
});
