import { expect, test } from "bun:test";
import { JsonTextError, parseJsonBytes } from "./json-text.ts";

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

test("bytes that are no UTF-8 and text that is no JSON are faults of syntax", () => {
  expect(fault(new Uint8Array([0x22, 0xff, 0x22]))).toBe("syntax");
  expect(fault(bytes("{"))).toBe("syntax");
  expect(fault(bytes(""))).toBe("syntax");
});

test("nesting of 100 levels is read, of 101 refused, and of 200,000 refused without being parsed", () => {
  const nested = (depth: number) => bytes("[".repeat(depth) + "]".repeat(depth));
  expect(fault(nested(100))).toBe("none");
  expect(fault(nested(101))).toBe("depth");
  expect(fault(nested(200_000))).toBe("depth");
});

test("what stands behind a quote within a string is no nesting, and what stands behind the string is", () => {
  const quoted = { text: `say "${"[".repeat(200)}` };
  expect(parseJsonBytes(bytes(JSON.stringify(quoted)))).toEqual(quoted);
  const ends = (text: string) => fault(bytes(`[${JSON.stringify(text)},${"[".repeat(100)}${"]".repeat(100)}]`));
  expect(['a "', "a \\", 'a \\"', "a"].map(ends)).toEqual(["depth", "depth", "depth", "depth"]);
});

test("a key named __proto__ is a key", () => {
  const value = parseJsonBytes(bytes('{"__proto__":{"polluted":true}}'));
  expect(Object.hasOwn(value as object, "__proto__")).toBe(true);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});
