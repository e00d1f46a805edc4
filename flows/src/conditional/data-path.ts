import type { Json } from "manyhands";

/** The steps of a path like `$.order.items[0].kind` or `order.items.0.kind`; undefined when it is none. */
function stepsOf(path: string): readonly string[] | undefined {
  const plain = path
    .trim()
    .replace(/^\$\.?/, "")
    .replaceAll(/\[(\d+)\]/g, ".$1")
    .replace(/^\./, "");
  const steps = plain === "" ? [] : plain.split(".");
  return steps.every((step) => /^[^[\]\s]+$/.test(step)) ? steps : undefined;
}

/** Whether a path can be read. */
export function isDataPath(path: string): boolean {
  return stepsOf(path) !== undefined;
}

/** What stands at a path; undefined where nothing does. Only what the data itself has is found. */
export function valueAt(data: Json, path: string): Json | undefined {
  let value: Json | undefined = data;
  for (const step of stepsOf(path) ?? []) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as { readonly [key: string]: Json | undefined })[step];
  }
  return value;
}
