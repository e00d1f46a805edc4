import { expect, test } from "bun:test";
import * as z from "zod";
import { checkInput } from "./check-input.ts";

const schema = z.strictObject({
  input: z.union([z.string(), z.strictObject({ text: z.string().optional() })]),
  options: z.strictObject({ rounds: z.int().max(5), mode: z.enum(["any", "all"]) }).optional(),
});

test("what fits is returned as the schema has it", () => {
  expect(checkInput(schema, { input: "Go" }, "body")).toEqual({ input: "Go" });
});

test("every wrong field is named, and for an unknown one those there are", () => {
  const faults: [unknown, string][] = [
    [{ input: "Go", files: [], agent: "a" }, "body.files: is not known; there are input, options. body.agent: is not"],
    [{ input: { txt: "Go" } }, "body.input.txt: is not known; there are text."],
    [{ input: "Go", options: { rounds: 9, mode: "x", of: 1 } }, "body.options.rounds: Too big: expected number to be"],
    [
      { input: "Go", options: { rounds: 1, mode: "all", of: 1 } },
      "body.options.of: is not known; there are rounds, mode.",
    ],
    ["Go", "body: Invalid input: expected object, received string."],
  ];
  for (const [given, fault] of faults) expect(() => checkInput(schema, given, "body")).toThrow(fault);
});

test("where a field may be one of several things, the error says which, or what the nearest of them lacks", () => {
  const file = z.union([z.strictObject({ name: z.string(), bytes: z.base64() }), z.strictObject({ url: z.url() })]);
  const several = z.strictObject({ input: z.union([z.string(), z.strictObject({ files: z.array(file) })]) });
  const faults: [unknown, string][] = [
    [{}, "body.input: Invalid input: expected string or object, received undefined."],
    [{ input: 5 }, "body.input: Invalid input: expected string or object, received number."],
    [
      { input: { files: [{ name: "a" }] } },
      "body.input.files.0.bytes: Invalid input: expected string, received undefined.",
    ],
    [{ input: { files: [{ url: "x" }] } }, "body.input.files.0.url: Invalid URL."],
    [{ input: { files: ["a"] } }, "body.input.files.0: Invalid input: expected object, received string."],
  ];
  for (const [given, fault] of faults) {
    expect(() => checkInput(several, given, "body")).toThrow(expect.objectContaining({ message: fault }));
  }
});

test("no value is repeated, and the error has the code it is given", () => {
  const check = () => checkInput(z.strictObject({ key: z.int() }), { key: "s3cret" }, "", "config_invalid");
  expect(check).toThrow(
    expect.objectContaining({ code: "config_invalid", message: expect.not.stringContaining("s3cret") }),
  );
});

test("a message about many fields is cut, one about the whole names no field, and a list has no fields to name", () => {
  const faults = (schema: z.ZodType, given: unknown, place = "") => {
    try {
      checkInput(schema, given, place);
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  };
  const many = Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`field${n}`, z.string()]));
  expect(faults(z.object(many), {})).toHaveLength(1_001);
  expect(faults(z.string(), 1)).toStartWith("message: ");
  expect(faults(z.string(), 1, "body")).toStartWith("body: ");
  expect(faults(z.strictObject({}), { a: 1 }, "body")).toBe("body.a: is not known; there are none.");
});

test("a fault that is a sentence already gets no second full stop", () => {
  const schema = z.object({ after: z.string().regex(/^\d+$/, "It must be a number.") });
  expect(() => checkInput(schema, { after: "x" }, "query")).toThrow(/^query\.after: It must be a number\.$/);
});
