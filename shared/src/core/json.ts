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
