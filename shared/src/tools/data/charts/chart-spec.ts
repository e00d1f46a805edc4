/** A Vega-Lite specification. */
export type ChartSpec = Readonly<Record<string, unknown>>;

/** A column's name escaped for Vega-Lite, so that no part of it is taken for a path. */
export function fieldOf(name: string): string {
  return name.replaceAll(/[\\.[\]]/g, "\\$&");
}
