import * as z from "zod";

/**
 * What a settings file may contain at one place: a value (`properties` undefined) or a table of
 * keys.
 */
export type KeyNode = {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly properties?: Readonly<Record<string, KeyNode>>;
  /** Tables with names the user chooses, beside `properties`. */
  readonly additionalProperties?: KeyNode | boolean;
};

const keyNode: z.ZodType<KeyNode> = z.lazy(() =>
  z.looseObject({
    type: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    properties: z.record(z.string(), keyNode).optional(),
    additionalProperties: z.union([z.boolean(), keyNode]).optional(),
  }),
) as z.ZodType<KeyNode>;

/**
 * The keys a schema allows, as data that files, environment variables and error messages are
 * checked against.
 */
export function keyTree(schema: z.ZodType): KeyNode {
  return keyNode.parse(z.toJSONSchema(schema, { io: "input" }));
}

/** The node for tables whose names the user chooses, if this table allows them. */
export function namedTables(node: KeyNode): KeyNode | undefined {
  const { additionalProperties } = node;
  return typeof additionalProperties === "object" && additionalProperties.properties !== undefined
    ? additionalProperties
    : undefined;
}

/** The tree with these user-named tables, as `[section, name]`, added as ordinary keys. */
export function withTables(root: KeyNode, tables: readonly (readonly string[])[]): KeyNode {
  let properties = root.properties ?? {};
  for (const [section = "", name = ""] of tables) {
    const node = properties[section];
    const table = node === undefined ? undefined : namedTables(node);
    if (table === undefined || node?.properties?.[name] !== undefined) continue;
    properties = { ...properties, [section]: { ...node, properties: { ...node?.properties, [name]: table } } };
  }
  return { ...root, properties };
}

/**
 * The node of a key of this table; `isTable` says whether the value is a table, as user-chosen
 * names require.
 */
export function childNode(node: KeyNode, key: string, isTable = true): KeyNode | undefined {
  if (node.properties !== undefined && Object.hasOwn(node.properties, key)) return node.properties[key];
  return isTable ? namedTables(node) : undefined;
}

/** The node at a path; undefined if no such key exists. */
export function nodeAt(root: KeyNode, path: readonly string[]): KeyNode | undefined {
  let node: KeyNode | undefined = root;
  for (const key of path) node = node === undefined ? undefined : childNode(node, key);
  return node;
}

/** Every key with a value and a fixed place, by path. */
export function fixedKeys(node: KeyNode, path: readonly string[] = []): { path: readonly string[]; node: KeyNode }[] {
  if (node.properties === undefined) return [{ path, node }];
  return Object.entries(node.properties).flatMap(([key, child]) => fixedKeys(child, [...path, key]));
}

/** What a value at this place must be, in words for an error message. */
export function allowedValues(node: KeyNode): string {
  if (node.description !== undefined) return node.description;
  if (node.enum !== undefined) return `one of ${node.enum.map(String).join(", ")}`;
  if (node.type === "boolean") return "true or false";
  if (node.type === "array") return "a list of texts";
  if (node.properties !== undefined) return "a table";
  if (node.type === "string") return (node.minLength ?? 0) > 0 ? "a text that is not empty" : "a text";
  const kind = node.type === "integer" ? "a whole number" : "a number";
  const low = node.minimum !== undefined && node.minimum > -Number.MAX_SAFE_INTEGER ? ` from ${node.minimum}` : "";
  const high = node.maximum !== undefined && node.maximum < Number.MAX_SAFE_INTEGER ? ` up to ${node.maximum}` : "";
  return kind + low + high;
}
