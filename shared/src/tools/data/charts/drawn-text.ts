import { counted, firstOf } from "../../../core/text/counted.ts";
import type { ChartKind, Plot } from "./chart-roles.ts";
import { flowsOf } from "./shapes/sankey.ts";

const maxNamed = 12;
/** So many columns that are not drawn are all named. */
const maxUnused = 20;

/**
 * What a chart shows of its file, in a sentence: kind, columns, series and points, and what it
 * leaves out.
 */
export function drawnText(
  plot: Plot,
  { kind, unused }: { readonly kind: ChartKind; readonly unused: readonly string[] },
): string {
  const told = shapeText(plot, kind) ?? axesText(plot, kind);
  const named = firstOf(unused, unused.length > maxUnused ? maxNamed : maxUnused);
  const left = unused.length === 0 ? "nothing" : `column ${named}`;
  return `Drawn: ${told.join(", ")}; not drawn: ${left}.`;
}

/** The parts of the sentence for kinds that have no axes. */
function shapeText(plot: Plot, kind: ChartKind): readonly string[] | undefined {
  const { columns, rows } = plot;
  const { along, parts, measures } = plot.roles;
  const name = (index: number | undefined) => columns[index ?? 0]?.name ?? "";
  const distinct = (index: number | undefined) => new Set(rows.map((row) => row[index ?? 0])).size;
  const [first, second, third] = measures;
  if (kind === "sankey") {
    const sides = [`source = ${name(along)} (${count(along)})`, `target = ${name(parts)} (${count(parts)})`];
    return [kind, counted(flowsOf(plot).length, "flow"), ...sides, `width = ${name(first)}`];
  }
  if (kind === "treemap") {
    const groups = parts === undefined ? [] : [`in ${counted(distinct(parts), "group")} by ${name(parts)}`];
    return [kind, [`${counted(rows.length, "area")} of ${name(along)}`, ...groups].join(" "), `size = ${name(first)}`];
  }
  if (kind === "wordcloud") return [kind, `${counted(rows.length, "word")} of ${name(along)}`, `size = ${name(first)}`];
  if (kind !== "map") return undefined;
  if (along !== undefined)
    return [kind, `${counted(distinct(along), "country", "countries")} of ${name(along)}`, `colour = ${name(first)}`];
  const places = `${counted(rows.length, "place")} by longitude ${name(first)} and latitude ${name(second)}`;
  return [
    kind,
    places,
    ...(third === undefined ? [] : [`size = ${name(third)}`]),
    ...(parts === undefined ? [] : [`colour = ${name(parts)}`]),
  ];

  function count(index: number | undefined): string {
    return counted(distinct(index), "name");
  }
}

function axesText({ columns, rows, roles: { along, measures, parts } }: Plot, kind: ChartKind): readonly string[] {
  const name = (index: number | undefined) => (index === undefined ? "" : (columns[index]?.name ?? ""));
  const points = measures.reduce((sum, measure) => sum + rows.filter((row) => row[measure] !== null).length, 0);
  const [first, second] = measures;
  const values = parts === undefined ? [] : [...new Set(rows.map((row) => String(row[parts])))];
  const folded = along !== undefined && measures.length > 1 ? measures.map((index) => name(index)) : [];
  const series = [...values, ...folded];
  const more = series.length > maxNamed ? ", …" : "";
  const axes =
    along !== undefined
      ? [`x = ${name(along)}`, ...(folded.length === 0 ? [`y = ${name(first)}`] : [])]
      : [`x = ${name(first)}`, ...(second === undefined ? ["y = how often"] : [`y = ${name(second)}`])];
  const by = parts === undefined ? "" : ` by ${name(parts)}`;
  return [
    kind,
    ...axes,
    ...(series.length === 0 ? [] : [`${series.length} series${by} (${series.slice(0, maxNamed).join(", ")}${more})`]),
    counted(points, "point"),
  ];
}
