import type { ChartSpec } from "./choose-spec.ts";

/** The colour of whatever findings put over a chart. */
export const accent = "#c0392b";

/** A text at a place of the chart, readable over lines and bars: its outline in white comes first. */
export function label(
  text: string,
  place: { readonly values: readonly unknown[]; readonly encoding: Readonly<Record<string, unknown>> },
  look: Readonly<Record<string, unknown>> = {},
): ChartSpec[] {
  const mark = { type: "text", text, fontSize: 12, fontWeight: 600, ...look };
  const outline = { stroke: "white", strokeWidth: 4, strokeJoin: "round", color: "white" };
  return [outline, { color: accent }].map((colours) => ({
    data: { values: place.values },
    mark: { ...mark, ...colours },
    encoding: place.encoding,
  }));
}
