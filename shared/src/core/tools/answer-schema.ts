import * as z from "zod";
import { AppError, messageOf } from "../errors.ts";
import { isObject } from "../json.ts";
import type { JsonSchema } from "../model.ts";
import { LinearPattern } from "../text/linear-pattern.ts";
import { inputSchemaOf } from "./tool-input.ts";

/** The most subschemas of a schema, each counted as often as a reference leads to it. */
const maxSubschemas = 2_000;
/** The most times that a part of an answer meets a subschema, all alternatives included. */
const maxMeetings = 200_000;
/** How deep an answer and the references to a schema's parts may be nested. */
const deepest = 500;

const tooLong = "The answer is too long or too deep to be checked against the schema: give a shorter one.";

/**
 * The check of an answer by the JSON Schema that a caller gave. It ends, whatever schema and answer
 * are: a schema that unfolds without end is refused, its patterns take time in proportion to the
 * text, and an answer that would meet too many alternatives does not fit. Throws `invalid_input`
 * with the reason for a schema that we cannot check against or show to a model.
 */
export function answerSchema(schema: JsonSchema): z.ZodType {
  try {
    return checkOf(schema);
  } catch (cause) {
    const message = `not a JSON Schema that answers can be checked against: ${reasonIn(cause)}`;
    throw new AppError("invalid_input", message, { cause, field: "outputSchema" });
  }
}

/** Why answers cannot be required to fit this schema; undefined if they can. */
export function refusalOf(schema: JsonSchema): string | undefined {
  try {
    checkOf(schema);
    return undefined;
  } catch (cause) {
    return reasonIn(cause);
  }
}

/** A reason may quote the schema, which may be long. */
const maxReason = 300;

function reasonIn(cause: unknown): string {
  return messageOf(cause).slice(0, maxReason);
}

function checkOf(schema: JsonSchema): z.ZodType {
  requireFewSubschemas(schema);
  const inner = withLinearPatterns(() => z.fromJSONSchema(schema, { registry: withoutIds }));
  const bounded = z
    .transform((answer: unknown) => answer)
    .check(({ value, issues }) => {
      if (!endsSoon(schema, value)) issues.push({ code: "custom", input: value, message: tooLong });
    });
  // Without it the answer might be left out.
  const check = z.nonoptional(bounded.pipe(inner as z.ZodType<unknown, unknown>));
  inputSchemaOf(z.strictObject({ response: check }));
  return check;
}

/** Keeps what a schema says besides its checks; under an `id` it would be kept forever. */
const withoutIds = Object.assign(z.registry(), {
  add: (schema: z.ZodType, { id: _, ...said }: Record<string, unknown>) => z.globalRegistry.add(schema, said),
}) as unknown as typeof z.globalRegistry;

/**
 * The library makes each pattern of a schema while it converts it, and none later. With flags it
 * makes only its own. Those of `patternProperties` are afterwards out of reach in its closures;
 * since converting awaits nothing, nobody else meets the exchanged constructor.
 */
function withLinearPatterns<Converted>(convert: () => Converted): Converted {
  const { RegExp: ofRuntime } = globalThis;
  const made = (source: string, flags?: string) =>
    flags === undefined ? new LinearPattern(source) : new ofRuntime(source, flags);
  globalThis.RegExp = new Proxy(ofRuntime, { construct: (_, [source, flags]) => made(source, flags) });
  try {
    return convert();
  } finally {
    globalThis.RegExp = ofRuntime;
  }
}

type Keywords = { readonly [keyword: string]: unknown };

const alternatives = ["allOf", "anyOf", "oneOf"];
const ofParts = ["additionalItems", "additionalProperties", "contains", "items", "not", "prefixItems", "propertyNames"];
const named = ["patternProperties", "properties"];

/** A pattern takes as long to make as so many other parts. */
const partsOfPattern = 10;

/** A schema of few bytes can refer to its parts so often that converting it takes all memory. */
function requireFewSubschemas(root: JsonSchema): void {
  let left = maxSubschemas;
  const spend = (parts: number) => {
    left -= parts;
    if (left < 0) throw new Error(`The schema has more than ${maxSubschemas} parts.`);
  };
  const visit = (schema: unknown, times: number, within: readonly string[]) => {
    spend(times);
    if (!isObject(schema)) return;
    if (typeof schema.$ref === "string" && !within.includes(schema.$ref))
      visit(partOf(root, schema.$ref), times, [...within, schema.$ref]);
    spend(times * (listOf(schema.enum).length + partsOfPattern * patternsOf(schema)));
    // Each is converted together with all before it.
    spend(times * Math.ceil(listOf(schema.allOf).length ** 2 / 100));
    // What stands beside several types is converted for each.
    const each = times * typesOf(schema);
    spend(each);
    for (const keyword of [...alternatives, ...ofParts])
      for (const one of listOf(schema[keyword])) visit(one, each, within);
    for (const keyword of named)
      if (isObject(schema[keyword])) for (const one of Object.values(schema[keyword])) visit(one, each, within);
  };
  visit(root, 1, []);
}

/** Whether a check tries no more than it may: alternatives within alternatives multiply. */
function endsSoon(root: JsonSchema, answer: unknown): boolean {
  let left = maxMeetings;
  const visit = (schema: unknown, value: unknown, depth: number): boolean => {
    left -= 1;
    if (left < 0 || depth > deepest) return false;
    if (!isObject(schema)) return true;
    const meets = (one: unknown, part: unknown) => visit(one, part, depth + 1);
    if (typeof schema.$ref === "string" && !meets(partOf(root, schema.$ref), value)) return false;
    if (typeof value === "string" && typeof schema.pattern === "string")
      left -= Math.ceil((value.length * schema.pattern.length) / charactersPerMeeting);
    if (left < 0) return false;
    for (const keyword of alternatives) if (!listOf(schema[keyword]).every((one) => meets(one, value))) return false;
    for (let types = typesOf(schema); types > 0; types--) {
      if (Array.isArray(value) && !itemsMeet(schema, value, meets)) return false;
      if (isObject(value) && !propertiesMeet(schema, value, meets)) return false;
    }
    return true;
  };
  return visit(root, answer, 0);
}

/** What as much text and pattern costs as one meeting. */
const charactersPerMeeting = 500;

type Meets = (schema: unknown, part: unknown) => boolean;

function itemsMeet(schema: Keywords, values: readonly unknown[], meets: Meets): boolean {
  const placed = [schema.prefixItems, schema.items].find(Array.isArray) ?? [];
  const rest = [schema.items, schema.additionalItems, schema.contains].filter(isObject);
  return values.every(
    (value, at) => (at >= placed.length || meets(placed[at], value)) && rest.every((one) => meets(one, value)),
  );
}

function propertiesMeet(schema: Keywords, value: Keywords, meets: Meets): boolean {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const patterns = isObject(schema.patternProperties) ? Object.entries(schema.patternProperties) : [];
  return (
    properties.every(([name, one]) => meets(one, Object.hasOwn(value, name) ? value[name] : undefined)) &&
    Object.entries(value).every(
      ([name, part]) =>
        meets(schema.propertyNames, name) &&
        meets(schema.additionalProperties, part) &&
        patterns.every(([pattern, one]) => meets({ pattern }, name) && meets(one, part)),
    )
  );
}

function partOf(root: JsonSchema, reference: string): unknown {
  const [, name] = reference.slice(1).split("/").filter(Boolean);
  if (name === undefined) return root;
  const parts = root.$defs ?? root.definitions;
  return isObject(parts) ? parts[name.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
}

function patternsOf({ pattern, patternProperties }: Keywords): number {
  return listOf(pattern).length + (isObject(patternProperties) ? Object.keys(patternProperties).length : 0);
}

function typesOf({ type }: Keywords): number {
  return Array.isArray(type) ? Math.max(1, type.length) : 1;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
