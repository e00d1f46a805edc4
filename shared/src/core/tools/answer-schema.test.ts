import { expect, test } from "bun:test";
import * as z from "zod";
import type { JsonSchema } from "../model.ts";
import { answerSchema, refusalOf } from "./answer-schema.ts";
import { inputSchemaOf } from "./tool-input.ts";

const fits = (schema: object, answer: unknown) => answerSchema({ ...schema }).safeParse(answer).success;
const types = Array(7).fill("object");

/** A schema in which each part refers twice to the next. */
function doubling(levels: number) {
  const parts = Array.from({ length: levels }, (_, level) => {
    const next = { $ref: `#/$defs/p${level + 1}` };
    return [`p${level}`, { type: "object", properties: { a: next, b: next } }] as const;
  });
  return { $defs: { ...Object.fromEntries(parts), [`p${levels}`]: { type: "string" } }, $ref: "#/$defs/p0" };
}

function nested(levels: number): JsonSchema {
  return levels === 0 ? { type: "string" } : { type: types, properties: { a: nested(levels - 1) } };
}

test("a schema of few bytes that unfolds to more than can be converted is none that we check", () => {
  for (const schema of [
    doubling(14),
    nested(6),
    { anyOf: Array(300).fill({ type: "string", pattern: "a{1000}" }) },
    { allOf: Array(500).fill({ type: "string" }) },
    { enum: Array.from({ length: 3_000 }, (_, at) => at) },
    { type: Array(3_000).fill("string"), properties: { a: true } },
  ] satisfies JsonSchema[])
    expect(refusalOf(schema)).toContain("has more than 2000 parts");
  for (const schema of [
    doubling(5),
    nested(2),
    { $ref: "#" },
    { anyOf: Array(100).fill({ type: "string" }) },
  ] satisfies JsonSchema[])
    expect(refusalOf(schema)).toBe(undefined);
});

/** Either of two operations, whose left side is one of them again. */
const operation = (kind: number) => ({
  type: "object",
  properties: { left: { $ref: "#/definitions/operation" }, kind: { const: kind } },
  required: ["kind"],
});
const recursive = {
  $schema: "http://json-schema.org/draft-07/schema#",
  definitions: { operation: { anyOf: [operation(1), operation(2)] } },
  $ref: "#/definitions/operation",
};

test("an answer whose check would try alternatives within alternatives without end does not fit", () => {
  const chain = (length: number): object => (length === 0 ? { kind: 1 } : { kind: 1, left: chain(length - 1) });
  expect(fits(recursive, chain(8))).toBe(true);
  const told = (schema: object, answer: unknown) => answerSchema({ ...schema }).safeParse(answer).error?.issues;
  const tooLong = [{ code: "custom", message: expect.stringContaining("give a shorter one") }];
  expect(told(recursive, chain(17))).toMatchObject(tooLong);
  expect(told({ anyOf: [{ $ref: "#" }, { $ref: "#" }] }, 1)).toMatchObject(tooLong);
  const text = { type: "string", pattern: `^${"(a|b)*".repeat(30)}$` };
  expect(told({ type: "array", items: text }, Array(600).fill("a".repeat(1_000)))).toMatchObject(tooLong);
  expect(told({ type: "array", items: { type: "number" } }, Array(100_000).fill(1))).toBe(undefined);
});

test("patterns of values and of names take time in proportion to the text", () => {
  const [pattern, text] = ["^(a+)+$", `${"a".repeat(10_000)}!`];
  for (const [schema, answer] of [
    [{ type: "string", pattern }, text],
    [
      { type: "object", patternProperties: { [pattern]: { type: "string" } }, additionalProperties: false },
      { [text]: "" },
    ],
    [{ type: "object", propertyNames: { pattern } }, { [text]: "" }],
  ] as const)
    expect(fits(schema, answer)).toBe(false);
  expect(fits({ type: "string", pattern }, "aaa")).toBe(true);
  expect(refusalOf({ type: "string", pattern: "^(?=a)" })).toEndWith("invalid or unsupported Perl syntax: `(?=`");
  expect([/a/.constructor, /a/.constructor]).toEqual([RegExp, RegExp]);
});

test("what else a schema says is kept for the model, and an answer must be there", () => {
  const schema = {
    ...{ id: "https://a.example/schema", title: "A place", type: "object", description: "Where." },
    properties: { id: { type: "string", pattern: "^a$", title: "Its key" } },
    ...{ required: ["id"], additionalProperties: false },
  };
  const response = inputSchemaOf(z.strictObject({ response: answerSchema(schema) }));
  expect(response.properties).toEqual({
    response: {
      ...{ title: "A place", type: "object", description: "Where.", required: ["id"] },
      properties: { id: { type: "string", title: "Its key" } },
    },
  });
  expect(z.globalRegistry._idmap.has("https://a.example/schema")).toBe(false);
  for (const any of [{}, { type: "string" }])
    expect(z.strictObject({ response: answerSchema(any) }).safeParse({}).success).toBe(false);
  const formats = [
    "email",
    "uri",
    "uuid",
    "date-time",
    "date",
    "time",
    "duration",
    "ipv4",
    "ipv6",
    "emoji",
    "hostname",
  ];
  for (const format of formats) expect(refusalOf({ type: "string", format })).toBe(undefined);
});
