import type { ChartSpec } from "../chart-spec.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * The specification for a page: the values at the pointer are told, a press on a series in the
 * legend fades the others, and points of two measures can be zoomed.
 */
export function interactiveSpec(spec: ChartSpec): ChartSpec {
  const config = { ...fieldsOf(spec.config) };
  // The tip of a line or an area would tell its first value, wherever the pointer is.
  const tips = { mark: { tooltip: true }, line: { tooltip: null }, area: { tooltip: null } };
  const shown = { ...spec, config: { ...tips, ...config } };
  if (spec.mark === undefined || spec.params !== undefined) return shown;
  const mark: Fields = typeof spec.mark === "string" ? { type: spec.mark } : fieldsOf(spec.mark);
  const encoding = fieldsOf(spec.encoding);
  const isCourse = mark.type === "line" || mark.type === "area";
  const isBare = isCourse && mark.point !== true;
  // Points without a colour stay so: it is the line or the area that fades.
  const fading = isBare ? (mark.type === "line" ? "strokeOpacity" : "fillOpacity") : "opacity";
  const picks = picked(encoding);
  const params = [...picks, ...zoomed(mark.type, encoding)];
  return {
    ...shown,
    mark: { ...mark, ...(isBare && { point: "transparent" }) },
    ...(params.length > 0 && { params }),
    encoding: {
      ...encoding,
      ...(picks.length > 0 && { [fading]: { condition: { param: "picked", value: 1 }, value: 0.15 } }),
    },
  };
}

/** A choice by the legend, where a column has a colour for each of its names. */
function picked(encoding: Fields): readonly Fields[] {
  const { field, type, legend } = fieldsOf(encoding.color);
  if (typeof field !== "string" || type !== "nominal" || legend === null || encoding.opacity !== undefined) return [];
  return [{ name: "picked", select: { type: "point", fields: [field] }, bind: "legend" }];
}

function zoomed(mark: unknown, encoding: Fields): readonly Fields[] {
  const isPlane = [encoding.x, encoding.y].every((axis) => fieldsOf(axis).type === "quantitative");
  return mark === "point" && isPlane ? [{ name: "zoomed", select: "interval", bind: "scales" }] : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
