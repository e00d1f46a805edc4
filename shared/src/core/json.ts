/** Plain JSON: what outlives a process. Step results, inputs, signals and events have this type. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** The value that a text is as JSON; undefined for any other text. */
export function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object, neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object that a text is as JSON; undefined for any other text. */
export function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = jsonOf(text);
  return isObject(value) ? value : undefined;
}

/** A table without the keys whose value is undefined. */
export function defined<Table extends object>(table: Table): { [Key in keyof Table]?: Exclude<Table[Key], undefined> } {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined)) as never;
}

/** How many levels of nesting are taken from others. */
export const deepestJson = 100;

/**
 * Whether a value is nested deeper than that: it would break recursive code, or fill the memory.
 */
export function isTooDeep(value: unknown, left = deepestJson): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((one) => isTooDeep(one, left - 1));
}
