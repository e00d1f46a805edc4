import fc from "fast-check";

/** The part of JSON Schema that the API's description uses. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
};

/** Texts that break careless code. */
export const nastyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.constantFrom(
    "",
    "__proto__",
    "constructor",
    "toString",
    "../../etc/passwd",
    "%00",
    "\u0000",
    "\ud800",
    "null",
    "a".repeat(300),
    "NaN",
  ),
);

const nastyKey = fc.constantFrom("__proto__", "constructor", "prototype", "toString", "", "input", "then");

/** Any JSON, including odd keys and deep nesting. */
export const anyJson = fc.oneof(
  fc.jsonValue({ stringUnit: "binary" }),
  fc.dictionary(nastyKey, fc.jsonValue(), { maxKeys: 4 }),
  fc.integer({ min: 1, max: 3_000 }).map((depth) => {
    let value: unknown = 1;
    for (let n = 0; n < depth; n++) value = n % 2 === 0 ? [value] : { a: value };
    return value;
  }),
);

/** How deep references are followed: JSON's own schema refers to itself. */
const deepest = 6;

/** Values that a schema accepts; `named` are the schemas it refers to. */
export function fitting(schema: Schema, named: Readonly<Record<string, Schema>>, depth = 0): fc.Arbitrary<unknown> {
  const inner = (one: Schema) => fitting(one, named, depth + 1);
  if (depth > deepest) return fc.jsonValue({ maxDepth: 1 });
  if (schema.$ref !== undefined) return inner(named[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(inner));
  switch (schema.type) {
    case "string":
      return textOfFormat(schema);
    case "integer":
    case "number":
      return fc.integer({ min: Math.max(schema.minimum ?? 0, -1e9), max: Math.min(schema.maximum ?? 1_000, 1e9) });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(inner(schema.items ?? {}), { maxLength: 3 });
    case "object":
      return objectOf(schema, inner);
    default:
      return fc.jsonValue();
  }
}

function textOfFormat({ format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === "uri") return fc.constantFrom("http://127.0.0.1:9/", "http://localhost:9/card", "https://[::1]:9");
  if (format === "base64") return fc.base64String({ maxLength: 40 });
  return fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, 40) });
}

function objectOf(schema: Schema, inner: (one: Schema) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inner(one)]));
  if (Object.keys(fields).length > 0) return fc.record(fields, { requiredKeys: [...required] });
  return typeof additionalProperties === "object"
    ? fc.dictionary(nastyKey, fc.jsonValue(), { maxKeys: 3 })
    : fc.constant({});
}
