import type { SheetChart, WriteSheet } from "hucre/xlsx";
import type { ChartToWrite } from "../workbook-protocol.ts";

type Kind = ChartToWrite["kind"];
type Axes = NonNullable<SheetChart["axes"]>;
type Axis = NonNullable<Axes["x"]> & NonNullable<Axes["y"]>;

/** Rows and columns of a usual size that a chart covers, and rows between two charts. */
const [tall, wide, gap] = [16, 8, 1];
/** Characters that stand beside each other on a screen with room for a chart. */
const maxBeside = 90;
/** Rows below which nobody looks for a chart. */
const maxAbove = 60;
/** The accents of the theme that a workbook has. */
const accents = ["4472C4", "ED7D31", "A5A5A5", "FFC000", "5B9BD5", "70AD47"];
const themed = ["accent1", "accent2", "accent3", "accent4", "accent5", "accent6"] as const;
/** With more points, a line has no marks. */
const maxMarked = 40;

/**
 * Where the charts of a sheet stand, one below the other: right of its cells, or below them where
 * the cells are wide and few.
 */
export function placesIn({ rows = [], columns = [], freezePane }: WriteSheet): (at: number) => SheetChart["anchor"] {
  const widths = columns.map(({ width = 8 }) => width);
  const isBelow = widths.reduce((sum, width) => sum + width, 0) > maxBeside && rows.length <= maxAbove;
  const top = isBelow ? rows.length + 1 : (freezePane?.rows ?? 0);
  const left = isBelow ? 0 : widths.length + 1;
  const right = isBelow ? columnsFor(widths) : left + wide;
  return (at) => {
    const row = top + at * (tall + gap);
    return { from: { row, col: left }, to: { row: row + tall, col: right } };
  };
}

/** How many columns from the first are about as wide as a chart. */
function columnsFor(widths: readonly number[]): number {
  let [left, count] = [wide * 9, 0];
  while (left > 0) left -= widths[count++] ?? 9;
  return count;
}

/** How the points of a series look. */
export function drawnAs(kind: Kind, series: number, points: number): Partial<SheetChart["series"][number]> {
  const accent = series % accents.length;
  const color = accents[accent] ?? "";
  const circle = { symbol: "circle", fill: color, line: color } as const;
  if (kind === "line")
    return {
      color,
      stroke: { width: 2.25 },
      marker: points > maxMarked ? { symbol: "none" } : { ...circle, size: 5 },
    };
  // The library joins points by a line unless that cannot be seen.
  if (kind === "scatter")
    return { color: { theme: themed[accent] ?? themed[0], alpha: 0 }, marker: { ...circle, size: 6 } };
  return kind === "pie" ? {} : { color };
}

/** What stands along an axis: its title, and the format of its cells. */
export type AxisText = { readonly title: string; readonly format: string };

/** Axes with their titles, with lines across, as numbers and days are shown in their cells. */
export function axesOf(kind: Kind, x: AxisText, y: AxisText): Axes {
  const isScatter = kind === "scatter";
  const isBar = kind === "bar";
  const upright = { axisTitleRotation: -90 };
  const axis = ({ title, format }: AxisText): Axis => ({
    title,
    majorTickMark: "out",
    minorTickMark: "none",
    numberFormat: { formatCode: format, sourceLinked: true },
  });
  return {
    x: {
      ...axis(x),
      // At the edge, even where there are values below 0.
      tickLblPos: "low",
      ...(isScatter && { gridlines: { major: true } }),
      // Bars and columns of days are as wide as those of texts.
      ...((isBar || kind === "column") && { auto: false }),
      // The first bar is the topmost.
      ...(isBar && { ...upright, reverse: true }),
    },
    y: {
      ...axis(y),
      gridlines: { major: true },
      ...(isScatter && { tickLblPos: "low" }),
      ...(isBar ? { crosses: "max" } : upright),
    },
  };
}
