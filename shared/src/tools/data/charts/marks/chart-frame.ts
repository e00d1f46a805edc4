import { isObject } from "../../../../core/json.ts";
import { seriesName } from "../chart-insights.ts";
import type { Plot } from "../chart-roles.ts";
import { type ChartSpec, fieldOf } from "../chart-spec.ts";
import type { ChartValue } from "../chart-table.ts";

type Channel = "x" | "y";
type Encoding = Readonly<Record<string, unknown>>;

/**
 * A point of a chart, by column name; with `series` and `value` when several measures are combined.
 */
export type ChartPoint = Readonly<Record<string, ChartValue>>;

/** How a chart's marks are placed on its axes, so that others can be put beside them. */
export type ChartFrame = {
  readonly encoding: Encoding;
  /** The axis of places and the axis of measures, and the names of the fields on them. */
  readonly along: { readonly channel: Channel; readonly field: string };
  readonly measure: { readonly channel: Channel; readonly field: string };
  /** The points of the series with this name in findings, in the order of the chart. */
  pointsOf(series: string): readonly ChartPoint[];
};

/**
 * The frame of a chart with a single mark and a place and a measure on its axes; undefined for
 * others, such as some specs of the model's own.
 */
export function chartFrame(spec: ChartSpec, table: Plot): ChartFrame | undefined {
  const encoding = spec.encoding;
  if (spec.mark === undefined || !isObject(encoding)) return undefined;
  const { along, measures, parts } = table.roles;
  const name = (index: number) => table.columns[index]?.name ?? "";
  const channelOf = (fields: readonly string[]) => {
    for (const channel of ["x", "y"] as const) {
      const definition = encoding[channel];
      if (!isObject(definition) || definition.aggregate !== undefined || definition.bin !== undefined) continue;
      const field = fields.find((each) => fieldOf(each) === definition.field);
      if (field !== undefined) return { channel, field };
    }
    return undefined;
  };
  if (along === undefined) return undefined;
  const place = channelOf([name(along)]);
  const measured = channelOf(measures.length > 1 ? ["value"] : measures.map(name));
  if (place === undefined || measured === undefined || place.channel === measured.channel) return undefined;
  const points = measures.flatMap((measure) =>
    table.rows
      .filter((row) => typeof row[measure] === "number")
      .map((row) => {
        const values = Object.fromEntries(table.columns.map((column, index) => [column.name, row[index] ?? null]));
        const series = parts === undefined ? name(measure) : seriesName(name(measure), row[parts] ?? null);
        return { series, point: { ...values, series: name(measure), value: row[measure] ?? null } };
      }),
  );
  return {
    encoding,
    along: place,
    measure: measured,
    pointsOf: (series) => points.filter((each) => each.series === series).map(({ point }) => point),
  };
}
