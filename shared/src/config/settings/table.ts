import { childNode, type KeyNode } from "./key-tree.ts";

/** A parsed TOML table. */
export type Table = { [key: string]: unknown };

/** Whether a value is a table, not a list, a date or a plain value. */
export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/**
 * The table without keys, at any depth, whose value is an empty text: as in OpenManus, such a key
 * is not set.
 */
export function withoutEmpty(table: Readonly<Table>): Table {
  const set = Object.entries(table).filter(([, value]) => value !== "");
  return Object.fromEntries(set.map(([key, value]) => [key, isTable(value) ? withoutEmpty(value) : value]));
}

/** The value at a path, or undefined. */
export function valueAt(table: Readonly<Table>, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isTable(at) ? at[key] : undefined), table);
}

/** Sets the value at a path, creating missing tables. */
export function setAt(table: Table, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    table[key] = value;
    return;
  }
  const child = table[key];
  const next: Table = isTable(child) ? child : {};
  table[key] = next;
  setAt(next, rest, value);
}

/**
 * The paths of a table's values. A value in place of a table that `node` expects counts as a value
 * of that path.
 */
export function valuePaths(table: Readonly<Table>, node: KeyNode, path: readonly string[] = []): (readonly string[])[] {
  return Object.entries(table).flatMap(([key, value]) => {
    const child = childNode(node, key);
    if (child?.properties === undefined || !isTable(value)) return [[...path, key]];
    return valuePaths(value, child, [...path, key]);
  });
}
