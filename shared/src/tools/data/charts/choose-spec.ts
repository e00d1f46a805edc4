import type { FindingLanguage } from "../insights/say-finding.ts";
import type { ChartKind, Plot } from "./chart-roles.ts";
import { type ChartSpec, fieldOf } from "./chart-spec.ts";
import { radarSpec } from "./shapes/radar.ts";
import { sankeySpec } from "./shapes/sankey.ts";
import { treemapSpec } from "./shapes/treemap.ts";
import { wordCloudSpec } from "./shapes/word-cloud.ts";
import { worldMapSpec } from "./shapes/world-map.ts";

const words = { en: { count: "Count", value: "Value" }, zh: { count: "数量", value: "数值" } };
const maxUpright = 15;
/**
 * More letters than this do not fit side by side below the bars, each label having the room of the
 * longest.
 */
const maxLetters = 90;
const barStep = 24;
/** The days of a month. */
const maxTilted = 31;
const flatLabels = { labelAngle: 0 };
const tiltedLabels = { labelAngle: -45 };
const longLabels = { labelLimit: 320 };
const wholeNumbers = { tickMinStep: 1, format: ",d" };
const maxMarked = 60;

/**
 * A chart of this kind: lines along an order, bars for names (side by side or stacked), slices for
 * shares of a whole, points for two measures, bars for how often values occur, boxes for how they
 * are spread, cells for two sides and a measure; and those whose places are computed in `shapes`.
 */
export function chooseSpec(plot: Plot, kind: ChartKind, language: FindingLanguage): ChartSpec {
  const word = words[language];
  const { along, measures } = plot.roles;
  const [first = 0, second = 0] = measures;
  const shape = shapes[kind];
  if (shape !== undefined) return shape(plot);
  if (kind === "box") return ofSpread(plot, along, first);
  if (kind === "histogram") return ofFrequency(plot, first, word.count);
  if (kind === "scatter" || along === undefined) return ofPoints(plot, first, second);
  if (kind === "pie") return ofSlices(plot, along, first);
  if (kind === "heatmap") return ofCells(plot, along, first);
  if (kind === "bar" || kind === "stacked") return ofNames(plot, along, word.value, kind === "stacked");
  return ofCourse(plot, along, kind === "area" ? "area" : "line", word.value);
}

const shapes: Readonly<Partial<Record<ChartKind, (plot: Plot) => ChartSpec>>> = {
  sankey: sankeySpec,
  radar: radarSpec,
  treemap: treemapSpec,
  wordcloud: wordCloudSpec,
  map: worldMapSpec,
};

function ofFrequency(plot: Plot, measure: number, count: string): ChartSpec {
  const x = { ...channel(plot, measure), type: "quantitative", bin: true };
  return { mark: "bar", encoding: { x, y: { aggregate: "count", title: count, axis: wholeNumbers } } };
}

function ofSpread(plot: Plot, along: number | undefined, measure: number): ChartSpec {
  const y = { ...channel(plot, measure), type: "quantitative", scale: { zero: false } };
  const x =
    along === undefined ? {} : { x: { ...channel(plot, along), type: "nominal", sort: null, axis: flatLabels } };
  return { mark: { type: "boxplot", extent: 1.5, size: 36 }, encoding: { ...x, y } };
}

function ofCells(plot: Plot, along: number, measure: number): ChartSpec {
  const values = plot.rows.map((row) => Number(row[measure] ?? 0));
  const isSigned = Math.min(...values) < 0 && Math.max(...values) > 0;
  // Blue and orange differ for those who see no red and green too.
  const scale = isSigned ? { scheme: "blueorange", domainMid: 0 } : { scheme: "blues" };
  const side = (index: number) => ({ ...channel(plot, index), type: "ordinal", sort: null });
  return {
    mark: "rect",
    encoding: {
      x: { ...side(along), axis: longLabels },
      y: { ...side(plot.roles.parts ?? along), axis: longLabels },
      color: { ...channel(plot, measure), type: "quantitative", scale },
    },
  };
}

function ofPoints(plot: Plot, first: number, second: number): ChartSpec {
  const scale = { zero: false };
  const axis = (measure: number) => ({ ...channel(plot, measure), type: "quantitative", scale });
  const encoding = { x: axis(first), y: axis(second), ...partsOf(plot) };
  return { mark: { type: "point", filled: true }, encoding };
}

function ofCourse(plot: Plot, along: number, kind: "line" | "area", value: string): ChartSpec {
  const { transform, y, color } = measured(plot, value);
  const isLevel = new Set(plot.rows.map((row) => row[plot.roles.measures[0] ?? 0])).size < 2;
  const mark = kind === "area" ? { type: kind } : { type: kind, point: plot.rows.length <= maxMarked };
  return {
    ...transform,
    mark,
    encoding: {
      x: { ...channel(plot, along), ...courses[plot.columns[along]?.kind ?? "name"], axis: flatLabels },
      y: { ...y, scale: { zero: kind === "area" || isLevel } },
      ...color,
    },
  };
}

const courses = {
  time: { type: "temporal" },
  order: { type: "ordinal" },
  number: { type: "quantitative" },
  name: { type: "ordinal", sort: null },
};

function ofSlices(table: Plot, along: number, measure: number): ChartSpec {
  return {
    mark: { type: "arc", innerRadius: 60 },
    encoding: {
      theta: { ...channel(table, measure), type: "quantitative", stack: true },
      color: { ...channel(table, along), type: "nominal", sort: null },
    },
  };
}

function ofNames(table: Plot, along: number, value: string, isStacked: boolean): ChartSpec {
  const { transform, y, color } = measured(table, value);
  const labels = new Set(table.rows.map((row) => String(row[along])));
  const longest = [...labels].reduce((most, text) => Math.max(most, text.length), 0);
  const isFlat = labels.size <= maxUpright && labels.size * longest <= maxLetters;
  // A course of time goes from left to right.
  const upright = isFlat || (table.columns[along]?.kind === "time" && labels.size <= maxTilted);
  const axis = isFlat ? flatLabels : upright ? tiltedLabels : longLabels;
  const names = { ...channel(table, along), type: "nominal", sort: null, axis };
  const beside =
    "color" in color && !isStacked
      ? { [upright ? "xOffset" : "yOffset"]: { field: color.color.field, sort: color.color.sort } }
      : {};
  return {
    ...transform,
    ...(upright ? {} : { height: { step: barStep } }),
    mark: "bar",
    encoding: { ...(upright ? { x: names, y } : { y: names, x: y }), ...color, ...beside },
  };
}

/** The measured side: one column, or several combined with a series each. */
function measured(plot: Plot, value: string) {
  const { measures } = plot.roles;
  const [first = 0] = measures;
  if (measures.length === 1)
    return { transform: {}, y: { ...channel(plot, first), type: "quantitative" }, color: partsOf(plot) };
  const fold = measures.map((index) => channel(plot, index).field);
  return {
    transform: { transform: [{ fold, as: ["series", "value"] }] },
    y: { field: "value", title: value, type: "quantitative" },
    color: { color: { field: "series", title: null, type: "nominal", sort: null } },
  };
}

/** A colour for each part of what is measured. */
function partsOf(plot: Plot) {
  const { parts } = plot.roles;
  return parts === undefined ? {} : { color: { ...channel(plot, parts), type: "nominal", sort: null } };
}

/** A column's field and its title. */
function channel({ columns }: Plot, index: number): { field: string; title: string } {
  const name = columns[index]?.name ?? "";
  return { field: fieldOf(name), title: name };
}
