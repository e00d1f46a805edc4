import type { Plot } from "../chart-roles.ts";
import { canvas, drawing, layer, pixels, tip } from "./canvas.ts";

const rings = 4;
const radius = 160;
const centre = { x: canvas.width / 2, y: canvas.height / 2 };
const place = { x: pixels("x", "x"), y: pixels("y", "y") };
const order = { field: "order", type: "quantitative" };

/**
 * A line around a centre for each series: the further out, the larger the value; all axes share a
 * scale.
 */
export function radarSpec(plot: Plot): Record<string, unknown> {
  const { along = 0, measures, parts } = plot.roles;
  const axes = [...new Set(plot.rows.map((row) => String(row[along])))];
  const values = measures.flatMap((measure) =>
    plot.rows.map((row) => ({
      axis: String(row[along]),
      series: parts === undefined ? (plot.columns[measure]?.name ?? "") : String(row[parts]),
      value: Number(row[measure] ?? 0),
    })),
  );
  const top = roundUp(Math.max(...values.map(({ value }) => value)));
  const placed = values
    .map((one) => ({ ...one, order: axes.indexOf(one.axis) }))
    .map((one) => ({ ...one, ...at(one.order / axes.length, (radius * one.value) / top) }));
  const ends = placed.filter((one) => one.order === 0).map((one) => ({ ...one, order: axes.length }));
  const color = { field: "series", type: "nominal", sort: null, title: null };
  return drawing([
    ...web(axes, top),
    layer([...placed, ...ends], { type: "line", strokeWidth: 2, tooltip: null }, { ...place, order, color }),
    layer(
      placed,
      { type: "point", filled: true, size: 60, opacity: 1 },
      {
        ...place,
        color,
        tooltip: [
          tip("axis", plot.columns[along]?.name ?? "", "nominal"),
          tip("series", parts === undefined ? "series" : (plot.columns[parts]?.name ?? ""), "nominal"),
          tip("value", measures.length === 1 ? (plot.columns[measures[0] ?? 0]?.name ?? "") : "value", "quantitative"),
        ],
      },
    ),
  ]);
}

/** The rings, the axes and their names. */
function web(axes: readonly string[], top: number): readonly Record<string, unknown>[] {
  const around = (distance: number) =>
    [...axes, ""].map((_, order) => ({ order, ...at(order / axes.length, distance) }));
  const distances = Array.from({ length: rings }, (_, ring) => (ring + 1) / rings);
  const lines = [
    ...distances.flatMap((part) => around(radius * part).map((point) => ({ ...point, line: `ring ${part}` }))),
    ...axes.flatMap((_, axis) =>
      [0, radius].map((distance, order) => ({ order, ...at(axis / axes.length, distance), line: `axis ${axis}` })),
    ),
  ];
  const figures = distances.map((part) => ({ x: centre.x + 4, y: centre.y - radius * part, text: String(top * part) }));
  const names = axes.map((name, axis) => {
    const side = sideOf(at(axis / axes.length, radius).x - centre.x);
    return { name, ...at(axis / axes.length, radius + (side === "center" ? 24 : 14)), side };
  });
  return [
    layer(
      lines,
      { type: "line", color: "#d5dbda", strokeWidth: 1, tooltip: null },
      { ...place, detail: { field: "line" }, order },
    ),
    layer(
      figures,
      { type: "text", align: "left", baseline: "bottom", fontSize: 10, color: "#5d6a68", tooltip: null },
      { ...place, text: { field: "text" } },
    ),
    ...(["left", "center", "right"] as const).map((side) =>
      layer(
        names.filter((name) => name.side === side),
        { type: "text", align: side, fontSize: 12, tooltip: null },
        { ...place, text: { field: "name" } },
      ),
    ),
  ];
}

/** A point at this part of a turn from the top, clockwise. */
function at(turn: number, distance: number): { readonly x: number; readonly y: number } {
  const angle = 2 * Math.PI * turn;
  return { x: centre.x + distance * Math.sin(angle), y: centre.y - distance * Math.cos(angle) };
}

function sideOf(offset: number): "left" | "center" | "right" {
  if (Math.abs(offset) < radius / 5) return "center";
  return offset > 0 ? "left" : "right";
}

/** The next round number that quarters well. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 6, 8].find((each) => each * power >= value) ?? 10;
  return step * power;
}
