import type { ChartValue } from "./chart-table.ts";
import type { ChartSpec } from "./choose-spec.ts";

const font = "Noto Sans, Noto Sans CJK SC, Liberation Sans, DejaVu Sans, sans-serif";

/** A specification with its data, its title (findings below it as subtitle) and a look; what it says itself goes first. */
export function finishedSpec(
  spec: ChartSpec,
  values: readonly Readonly<Record<string, ChartValue>>[],
  title: { readonly text: string; readonly subtitle?: readonly string[] },
): ChartSpec {
  return {
    width: 640,
    height: 380,
    autosize: { type: "fit-x", contains: "padding" },
    background: "white",
    padding: 16,
    ...spec,
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    config: {
      font,
      axis: { labelLimit: 240, labelOverlap: "greedy" },
      title: { anchor: "start", fontSize: 16 },
      ...objectOf(spec.config),
    },
    title: { text: title.text, subtitle: title.subtitle ?? [], anchor: "start" },
    data: { values },
  };
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
