import type { Language } from "../insights/say-finding.ts";
import { type ChartRoles, chartRoles } from "./chart-roles.ts";
import type { ChartTable } from "./chart-table.ts";

/** A Vega-Lite specification. */
export type ChartSpec = Readonly<Record<string, unknown>>;

const words = { en: { count: "Count", value: "Value" }, zh: { count: "数量", value: "数值" } };
const wholes = /share|proportion|percent|breakdown|composition|占比|比例|份额|构成/i;
const mostSlices = 6;
const mostUpright = 15;
/** More than these do not fit side by side below the bars, each given the room of the longest. */
const mostLetters = 90;
const barStep = 24;
const flatLabels = { labelAngle: 0 };
const longLabels = { labelLimit: 320 };
const wholeNumbers = { tickMinStep: 1, format: ",d" };
const mostMarked = 60;

/** The chart that suits a table: lines along time, bars for names, slices for shares of a whole, points for two measures, else counts. */
export function chooseSpec(table: ChartTable, title: string, language: Language): ChartSpec {
  const roles = chartRoles(table);
  const { along, measures } = roles;
  const word = words[language];
  if (measures.length === 0) return ofCounts(table, along ?? 0, word.count);
  if (along === undefined) return ofNumbers(table, measures, word.count);
  const kind = table.columns[along]?.kind;
  if (kind === "time" || kind === "order") return ofCourse(table, along, roles, word.value);
  const [first] = measures;
  const isWhole = table.rows.every((row) => Number(row[first ?? 0]) >= 0);
  const slices = measures.length === 1 && roles.parts === undefined && table.rows.length <= mostSlices && isWhole;
  return slices && wholes.test(title) ? ofSlices(table, along, first ?? 0) : ofNames(table, along, roles, word.value);
}

function ofCounts(table: ChartTable, along: number, count: string): ChartSpec {
  const { field, title } = channel(table, along);
  return {
    height: { step: barStep },
    mark: "bar",
    encoding: {
      y: { field, title, type: "nominal", sort: "-x", axis: longLabels },
      x: { aggregate: "count", title: count, type: "quantitative", axis: wholeNumbers },
    },
  };
}

function ofNumbers(table: ChartTable, measures: readonly number[], count: string): ChartSpec {
  const [first = 0, second] = measures;
  const x = { ...channel(table, first), type: "quantitative" };
  if (second === undefined)
    return {
      mark: "bar",
      encoding: { x: { ...x, bin: true }, y: { aggregate: "count", title: count, axis: wholeNumbers } },
    };
  const scale = { zero: false };
  return {
    mark: { type: "point", filled: true },
    encoding: { x: { ...x, scale }, y: { ...channel(table, second), type: "quantitative", scale } },
  };
}

function ofCourse(table: ChartTable, along: number, roles: ChartRoles, value: string): ChartSpec {
  const type = table.columns[along]?.kind === "time" ? "temporal" : "ordinal";
  const { transform, y, color } = measured(table, roles, value);
  const isLevel = new Set(table.rows.map((row) => row[roles.measures[0] ?? 0])).size < 2;
  return {
    ...transform,
    mark: { type: "line", point: table.rows.length <= mostMarked },
    encoding: {
      x: { ...channel(table, along), type, axis: flatLabels },
      y: { ...y, scale: { zero: isLevel } },
      ...color,
    },
  };
}

function ofSlices(table: ChartTable, along: number, measure: number): ChartSpec {
  return {
    mark: { type: "arc", innerRadius: 60 },
    encoding: {
      theta: { ...channel(table, measure), type: "quantitative", stack: true },
      color: { ...channel(table, along), type: "nominal", sort: null },
    },
  };
}

function ofNames(table: ChartTable, along: number, roles: ChartRoles, value: string): ChartSpec {
  const { transform, y, color } = measured(table, roles, value);
  const labels = new Set(table.rows.map((row) => String(row[along])));
  const longest = [...labels].reduce((most, text) => Math.max(most, text.length), 0);
  const upright = labels.size <= mostUpright && labels.size * longest <= mostLetters;
  const names = { ...channel(table, along), type: "nominal", sort: null, axis: upright ? flatLabels : longLabels };
  const beside =
    "color" in color ? { [upright ? "xOffset" : "yOffset"]: { field: color.color.field, sort: color.color.sort } } : {};
  return {
    ...transform,
    ...(upright ? {} : { height: { step: barStep } }),
    mark: "bar",
    encoding: { ...(upright ? { x: names, y } : { y: names, x: y }), ...color, ...beside },
  };
}

/** The measured side: one column, or several folded into a series each. */
function measured(table: ChartTable, { measures, parts }: ChartRoles, value: string) {
  const [first = 0] = measures;
  if (measures.length === 1) {
    const color = parts === undefined ? {} : { color: { ...channel(table, parts), type: "nominal", sort: null } };
    return { transform: {}, y: { ...channel(table, first), type: "quantitative" }, color };
  }
  const fold = measures.map((index) => channel(table, index).field);
  return {
    transform: { transform: [{ fold, as: ["series", "value"] }] },
    y: { field: "value", title: value, type: "quantitative" },
    color: { color: { field: "series", title: null, type: "nominal", sort: null } },
  };
}

/** A column's field and its title. */
function channel({ columns }: ChartTable, index: number): { field: string; title: string } {
  const name = columns[index]?.name ?? "";
  return { field: fieldOf(name), title: name };
}

/** The name of a column as Vega-Lite wants it, so that no part of it is taken for a path. */
export function fieldOf(name: string): string {
  return name.replaceAll(/[\\.[\]]/g, "\\$&");
}
