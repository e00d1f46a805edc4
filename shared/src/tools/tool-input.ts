import * as z from "zod";
import type { JsonSchema } from "../llm/model.ts";

/**
 * The JSON Schema of a tool's input as models are told of it: an object at the top, as every provider demands, without the dialect's name and
 * without the bounds of safe integers, which say nothing.
 */
export function inputSchemaOf(schema: z.ZodObject): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    override({ jsonSchema }) {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return rest;
}

/**
 * Checks what a model wrote. Models give `null` for fields they mean to leave out; where that alone is wrong with the input, it counts as left out.
 * `problem` is a text the model can mend its call by.
 */
export function parseInput<Input extends z.ZodObject>(
  tool: string,
  schema: Input,
  raw: unknown,
): { readonly ok: true; readonly data: z.output<Input> } | { readonly ok: false; readonly problem: string } {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { ok: true, data: parsed.data };
  const again = schema.safeParse(withoutNulls(raw));
  if (again.success) return { ok: true, data: again.data };
  const unknown = parsed.error.issues.some((issue) => issue.code === "unrecognized_keys");
  const known = unknown ? `\nThe arguments are: ${Object.keys(schema.shape).join(", ")}.` : "";
  return { ok: false, problem: `Invalid arguments for ${tool}:\n${z.prettifyError(parsed.error)}${known}` };
}

function withoutNulls(raw: unknown): unknown {
  if (Array.isArray(raw)) return raw.map(withoutNulls);
  if (typeof raw !== "object" || raw === null) return raw;
  const given = Object.entries(raw).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, withoutNulls(value)]));
}
