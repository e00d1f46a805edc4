import type { FindingLanguage } from "../insights/say-finding.ts";
import type { ChartSpec } from "./chart-spec.ts";
import type { ChartValue } from "./chart-table.ts";
import { wrapText } from "./text-width.ts";

const titleSize = 16;
const subtitleSize = 12;
/** The width that fits over the chart and its axis, in pixels. */
const titleWidth = 690;
const weekdays = [..."日一二三四五六"];
const months = Array.from({ length: 12 }, (_, at) => `${at + 1}月`);
const chineseTime = {
  dateTime: "%Y年%m月%d日 %H:%M:%S",
  date: "%Y-%m-%d",
  time: "%H:%M:%S",
  periods: ["上午", "下午"],
  days: weekdays.map((day) => `星期${day}`),
  shortDays: weekdays.map((day) => `周${day}`),
  months,
  shortMonths: months,
};
const font =
  "Noto Sans, Noto Sans CJK SC, Liberation Sans, DejaVu Sans, WenQuanYi Micro Hei, Droid Sans Fallback, sans-serif";

/**
 * A specification with its data, its title (with the findings below it as subtitle) and a theme;
 * the specification's own settings take precedence.
 */
export function finishedSpec(
  spec: ChartSpec,
  values: readonly Readonly<Record<string, ChartValue>>[],
  {
    title,
    subtitle,
    language,
  }: { readonly title: string; readonly subtitle: readonly string[]; readonly language: FindingLanguage },
): ChartSpec {
  return {
    width: 640,
    height: 380,
    background: "white",
    padding: 16,
    ...spec,
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    config: {
      font,
      axis: { labelLimit: 240, labelOverlap: "greedy" },
      // The estimated width of labels with a minus sign is too small.
      axisY: { titlePadding: 10 },
      axisQuantitative: { tickCount: 8 },
      axisTemporal: { tickCount: 8 },
      legend: { titleLimit: 320, labelLimit: 240 },
      ...(language === "zh" && { locale: { time: chineseTime } }),
      title: {
        anchor: "start",
        fontSize: titleSize,
        offset: 12,
        subtitleFontSize: subtitleSize,
        subtitleColor: "#444",
        subtitlePadding: 6,
      },
      ...objectOf(spec.config),
    },
    title: {
      text: wrapText(title, titleWidth / titleSize),
      subtitle: subtitle.flatMap((line) => wrapText(line, titleWidth / subtitleSize)),
      anchor: "start",
    },
    data: { values },
  };
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
