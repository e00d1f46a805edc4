import * as z from "zod";
import type { JsonSchema } from "../model.ts";

/**
 * The JSON Schema of a tool's input as models get it: an object at the top, as every provider
 * demands. It is paid for in each request, so it omits what does not help a model and is checked
 * anyway: the dialect's name, lengths and patterns of texts, the ban on other fields, bounds and
 * defaults. A bound or default that a model has to know belongs into the description.
 */
export function inputSchemaOf(schema: z.ZodObject): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    override({ jsonSchema }) {
      for (const keyword of checkedAnyway) delete jsonSchema[keyword];
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return rest;
}

const checkedAnyway = [
  "default",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
] as const;

/**
 * Checks what a model wrote. Models write `null` for fields they mean to leave out, numbers and
 * booleans as texts, and one text for a list of texts; if nothing else is wrong, the input is
 * accepted as meant. `problem` tells the model how to fix its call, and leaves out what is not
 * wrong.
 */
export function parseInput<Input extends z.ZodObject>(
  tool: string,
  schema: Input,
  raw: unknown,
): { readonly ok: true; readonly data: z.output<Input> } | { readonly ok: false; readonly problem: string } {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { ok: true, data: parsed.data };
  const meant = withoutNulls(raw);
  const again = schema.safeParse(meant);
  if (again.success) return { ok: true, data: again.data };
  const fixed = schema.safeParse(withPlainValues(meant, again.error.issues));
  if (fixed.success) return { ok: true, data: fixed.data };
  const issues = faultsLeft(again.error.issues, fixed.error.issues);
  const unknown = issues.some((issue) => issue.code === "unrecognized_keys");
  const names = Object.keys(schema.shape).join(", ");
  const known = unknown ? `\n${names === "" ? "It takes no arguments." : `The arguments are: ${names}.`}` : "";
  return { ok: false, problem: `Invalid arguments for ${tool}:\n${z.prettifyError({ issues })}${known}` };
}

/** What is wrong with an input even as it is meant. One text for a list is at fault as a whole. */
function faultsLeft(asWritten: readonly z.core.$ZodIssue[], asMeant: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const left = asMeant.map((issue) => {
    const isWithin = ({ path }: z.core.$ZodIssue) =>
      path.length < issue.path.length && path.every((key, at) => key === issue.path[at]);
    return asWritten.find((one) => one.code === "invalid_type" && isWithin(one)) ?? issue;
  });
  return [...new Set(left)];
}

function withoutNulls(raw: unknown): unknown {
  if (Array.isArray(raw)) return raw.map(withoutNulls);
  if (typeof raw !== "object" || raw === null) return raw;
  const given = Object.entries(raw).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, withoutNulls(value)]));
}

/** How a text is read where something else is expected. */
const readAs: Readonly<Record<string, (text: string) => unknown>> = {
  number: numberOf,
  boolean: booleanOf,
  array: (text) => [text],
};

/**
 * The input with texts turned into what is expected in their place, if the text spells it.
 */
function withPlainValues(input: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  return issues.reduce((changed, issue) => {
    if (issue.code !== "invalid_type") return changed;
    const read = readAs[issue.expected];
    return read === undefined
      ? changed
      : changedAt(changed, issue.path, (value) => (typeof value === "string" ? read(value) : value));
  }, input);
}

function changedAt(input: unknown, path: readonly PropertyKey[], change: (value: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(input);
  if (Array.isArray(input)) return input.map((item, index) => (index === key ? changedAt(item, rest, change) : item));
  if (typeof input !== "object" || input === null) return input;
  const changed = ([name, value]: [string, unknown]) => [name, name === key ? changedAt(value, rest, change) : value];
  return Object.fromEntries(Object.entries(input).map(changed));
}

function numberOf(text: string): number | string {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : text;
}

function booleanOf(text: string): boolean | string {
  const word = text.trim().toLowerCase();
  return word === "true" || (word === "false" ? false : text);
}

/**
 * Extends a function of a tool's parsed input to any input: for input that does not fit, with which
 * no call is made, it returns `otherwise`.
 */
export function onInput<Input extends z.ZodObject, Rest extends readonly unknown[], Answer>(
  tool: string,
  schema: Input,
  of: (input: z.output<Input>, ...rest: Rest) => Answer,
  otherwise: NoInfer<Answer>,
): (raw: unknown, ...rest: Rest) => Answer {
  return (raw, ...rest) => {
    const parsed = parseInput(tool, schema, raw);
    return parsed.ok ? of(parsed.data, ...rest) : otherwise;
  };
}
