import * as z from "zod";

/**
 * What a settings file may contain at one place: a value (`properties` undefined) or a table of
 * keys.
 */
export type KeyNode = {
  readonly properties?: Readonly<Record<string, KeyNode>>;
  /** Tables with names the user chooses, beside `properties`. */
  readonly named?: KeyNode;
  /** What the text of a variable is converted to, where that is not text. */
  readonly type?: "array" | "boolean" | "number" | "table";
  /** What may be set here. Made when it is asked for: few keys are set, and fewer are wrong. */
  allowed(): AllowedValue;
};

const allowedValue = z.looseObject({
  type: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  items: z.looseObject({ description: z.string().optional() }).optional(),
});

/** A key's values, as its JSON Schema describes them. */
export type AllowedValue = z.output<typeof allowedValue>;

/**
 * The keys a schema allows, as data that files, environment variables and error messages are
 * checked against.
 */
export function keyTree(schema: z.core.$ZodType): KeyNode {
  const allowed = () => allowedValue.parse(z.toJSONSchema(schema, { io: "input" }));
  const table = within(schema);
  const type = typeOf(table);
  if (!(table instanceof z.ZodObject)) return { allowed, ...(type !== undefined && { type }) };
  const properties = Object.entries(table.shape).map(([key, value]) => [key, keyTree(value)] as const);
  const named = table.def.catchall && keyTree(table.def.catchall);
  return {
    allowed,
    properties: Object.fromEntries(properties),
    ...(named?.properties !== undefined && { named }),
  };
}

/** The schema without what makes it optional, gives it a default or changes its output. */
function within(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return within(schema.in);
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return wraps ? within(schema.unwrap()) : schema;
}

function typeOf(value: z.core.$ZodType): KeyNode["type"] {
  if (value instanceof z.ZodArray) return "array";
  if (value instanceof z.ZodBoolean) return "boolean";
  if (value instanceof z.ZodRecord) return "table";
  return value instanceof z.ZodNumber ? "number" : undefined;
}

/** The tree with these user-named tables, as `[section, name]`, added as ordinary keys. */
export function withTables(root: KeyNode, tables: readonly (readonly string[])[]): KeyNode {
  let properties = root.properties ?? {};
  for (const [section = "", name = ""] of tables) {
    const node = properties[section];
    if (node?.named === undefined || node.properties?.[name] !== undefined) continue;
    properties = { ...properties, [section]: { ...node, properties: { ...node.properties, [name]: node.named } } };
  }
  return { ...root, properties };
}

/**
 * The node of a key of this table; `isTable` says whether the value is a table, as user-chosen
 * names require.
 */
export function childNode(node: KeyNode, key: string, isTable = true): KeyNode | undefined {
  if (node.properties !== undefined && Object.hasOwn(node.properties, key)) return node.properties[key];
  return isTable ? node.named : undefined;
}

/** The node at a path; undefined if no such key exists. */
export function nodeAt(root: KeyNode, path: readonly string[]): KeyNode | undefined {
  let node: KeyNode | undefined = root;
  for (const key of path) node = node === undefined ? undefined : childNode(node, key);
  return node;
}

/**
 * Whether a variable sets what is at this path: a value, or all the tables that are named there. A
 * variable has room for the name of one table, which is in a section.
 */
export function isSetWhole({ properties, named }: KeyNode, path: readonly string[]): boolean {
  return properties === undefined || (named !== undefined && path.length > 1);
}

/** Every key with a fixed place that a variable sets, by path. */
export function fixedKeys(node: KeyNode, path: readonly string[] = []): { path: readonly string[]; node: KeyNode }[] {
  if (node.properties === undefined || isSetWhole(node, path)) return [{ path, node }];
  return Object.entries(node.properties).flatMap(([key, child]) => fixedKeys(child, [...path, key]));
}

/** What a value at this place must be, in words for an error message. */
export function allowedValues(node: KeyNode): string {
  const { type, description, enum: values, minimum, maximum, minLength = 0, items } = node.allowed();
  if (description !== undefined) return description;
  if (values !== undefined) return `one of ${values.map(String).join(", ")}`;
  if (type === "boolean") return "true or false";
  if (type === "array")
    return items?.description === undefined ? "a list of texts" : `a list, each ${items.description}`;
  if (node.properties !== undefined) return "a table";
  if (type === "string") return minLength > 0 ? "a text that is not empty" : "a text";
  const kind = type === "integer" ? "a whole number" : "a number";
  const low = minimum !== undefined && minimum > -Number.MAX_SAFE_INTEGER ? ` from ${minimum}` : "";
  const high = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? ` up to ${maximum}` : "";
  return kind + low + high;
}
