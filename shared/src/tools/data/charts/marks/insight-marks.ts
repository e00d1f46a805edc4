import type { Finding } from "../../insights/finding.ts";
import { type FindingLanguage, sayNumber } from "../../insights/say-finding.ts";
import type { Plot } from "../chart-roles.ts";
import type { ChartSpec } from "../chart-spec.ts";
import { type ChartFrame, type ChartPoint, chartFrame } from "./chart-frame.ts";
import { accent, label, pairMarks } from "./pair-marks.ts";

const words = { en: { mean: "mean", typical: "typical step" }, zh: { mean: "均值", typical: "典型变化" } };

/**
 * A chart with marks of its findings over it: rings, lines, levels and their figures. When a
 * finding has no place in the picture, the chart is unchanged.
 */
export function withMarks(
  chart: Plot & { readonly spec: ChartSpec; readonly language: FindingLanguage },
  findings: readonly Finding[],
): ChartSpec {
  if (isFaceted(chart.spec.encoding)) return chart.spec;
  const frame = chartFrame(chart.spec, chart);
  const layers = findings.flatMap((finding) => {
    if (frame) return marksOf(finding, frame, chart.language);
    return pairMarks(finding, chart.spec, chart);
  });
  if (layers.length === 0) return chart.spec;
  const { mark, encoding, ...rest } = chart.spec;
  return { ...rest, layer: [{ mark, encoding }, ...layers] };
}

/** Small charts side by side cannot be layered. */
function isFaceted(encoding: unknown): boolean {
  const channels = typeof encoding === "object" && encoding !== null ? Object.keys(encoding) : [];
  return channels.some((channel) => ["row", "column", "facet"].includes(channel));
}

function marksOf(finding: Finding, frame: ChartFrame, language: FindingLanguage): ChartSpec[] {
  const { type, series, at, figures } = finding;
  const points = frame.pointsOf(series);
  const named = points.filter((point) => at.includes(String(point[frame.along.field])));
  const value = (name: string) => figures[name] ?? Number.NaN;
  switch (type) {
    case "abnormal_value":
    case "statistics_abnormal":
    case "lof_outlier":
      return [ring(frame, named), ...named.flatMap((point) => valueLabel(frame, point, sayMeasure(frame, point)))];
    case "turning_point":
      return [
        placeRule(frame, named),
        ring(frame, named),
        ...named.flatMap((point) => valueLabel(frame, point, String(point[frame.along.field]))),
      ];
    case "majority_value":
      return named.flatMap((point) => valueLabel(frame, point, `${Math.round(100 * value("share"))} %`));
    case "statistics_base":
      return level(frame, points, value("mean"), `${words[language].mean} ${sayNumber(value("mean"))}`);
    case "overall_trend":
      return [line(frame, points, (index) => value("start") + value("slope") * index)];
    case "page_hinkley":
      return shift(frame, points, at[0] ?? "", { before: value("before"), after: value("after") });
    case "volatility":
      return band(frame, points, value("level"), value("step"), words[language].typical);
    default:
      return [];
  }
}

function sayMeasure({ measure }: ChartFrame, point: ChartPoint): string {
  return sayNumber(Number(point[measure.field]));
}

/** The axes, and the place within a group of bars. */
function positions({ encoding }: ChartFrame): Record<string, unknown> {
  const kept = ["x", "y", "xOffset", "yOffset"].filter((channel) => encoding[channel] !== undefined);
  return Object.fromEntries(kept.map((channel) => [channel, encoding[channel]]));
}

function onAxes({ encoding }: ChartFrame): Record<string, unknown> {
  return { x: encoding.x, y: encoding.y };
}

function ring(frame: ChartFrame, values: readonly ChartPoint[]): ChartSpec {
  const mark = { type: "point", shape: "circle", size: 260, filled: false, stroke: accent, strokeWidth: 2, opacity: 1 };
  return { data: { values }, mark, encoding: positions(frame) };
}

function placeRule(frame: ChartFrame, values: readonly ChartPoint[]): ChartSpec {
  const { channel } = frame.along;
  const mark = { type: "rule", color: accent, strokeDash: [4, 3], opacity: 0.7 };
  return { data: { values }, mark, encoding: { [channel]: frame.encoding[channel] } };
}

function valueLabel(frame: ChartFrame, point: ChartPoint, text: string): ChartSpec[] {
  const beside = frame.measure.channel === "x" ? { align: "left", dx: 12 } : { align: "center", dy: -16 };
  return label(text, { values: [point], encoding: positions(frame) }, beside);
}

function line(frame: ChartFrame, points: readonly ChartPoint[], height: (index: number) => number): ChartSpec {
  const last = points.length - 1;
  const values = [0, last].map((index) => at(frame, points[index], height(index)));
  return {
    data: { values },
    mark: { type: "line", color: accent, strokeDash: [6, 4], strokeWidth: 2 },
    encoding: onAxes(frame),
  };
}

function at({ along, measure }: ChartFrame, point: ChartPoint | undefined, value: number): ChartPoint {
  return { [along.field]: point?.[along.field] ?? null, [measure.field]: value };
}

/** A line across the whole chart, with its figure above its end. */
function level(frame: ChartFrame, points: readonly ChartPoint[], value: number, text: string): ChartSpec[] {
  const { channel, field } = frame.measure;
  const mark = { type: "rule", color: accent, strokeDash: [6, 4], strokeWidth: 1.5 };
  const end = channel === "x" ? points[0] : points.at(-1);
  const beside = channel === "x" ? { align: "left", dx: 6 } : { align: "right", dy: -8 };
  return [
    { data: { values: [{ [field]: value }] }, mark, encoding: { [channel]: frame.encoding[channel] } },
    ...label(text, { values: [at(frame, end, value)], encoding: onAxes(frame) }, beside),
  ];
}

function shift(
  frame: ChartFrame,
  points: readonly ChartPoint[],
  from: string,
  { before, after }: { readonly before: number; readonly after: number },
): ChartSpec[] {
  const index = points.findIndex((point) => String(point[frame.along.field]) === from);
  if (index < 1) return [];
  const sides = [
    { side: points.slice(0, index), value: before },
    { side: points.slice(index), value: after },
  ];
  return [
    placeRule(frame, points.slice(index, index + 1)),
    ...sides.flatMap(({ side, value }) => [
      line(frame, side, () => value),
      ...label(
        sayNumber(value),
        { values: [at(frame, side[Math.floor(side.length / 2)], value)], encoding: onAxes(frame) },
        { align: "center", dy: -10 },
      ),
    ]),
  ];
}

/** The typical step up and down around the typical level. */
function band(
  frame: ChartFrame,
  points: readonly ChartPoint[],
  middle: number,
  step: number,
  word: string,
): ChartSpec[] {
  const { channel, field } = frame.measure;
  const values = [{ [field]: middle - step / 2, upper: middle + step / 2 }];
  const encoding = { [channel]: frame.encoding[channel], [`${channel}2`]: { field: "upper" } };
  return [
    { data: { values }, mark: { type: "rect", color: accent, opacity: 0.15 }, encoding },
    ...label(
      `${word} ${sayNumber(step)}`,
      { values: [at(frame, points.at(-1), middle + step / 2)], encoding: onAxes(frame) },
      { align: "right", dy: -8 },
    ),
  ];
}
