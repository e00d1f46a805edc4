import type { Sheet, SheetChart, WriteSheet } from "hucre/xlsx";
import { AppError } from "../../../../core/errors.ts";
import { counted } from "../../../../core/text/counted.ts";
import { sanitizeLine } from "../../../../core/text/sanitize.ts";
import type { ChartToWrite } from "../workbook-protocol.ts";
import { type AxisText, axesOf, drawnAs, placesIn } from "./chart-look.ts";
import {
  type ChartRange,
  type ChartValue,
  chartRange,
  formatOf,
  headingOf,
  invalid,
  referenceTo,
  valuesIn,
  withoutFirst,
} from "./chart-range.ts";

type Kind = ChartToWrite["kind"];

/** A chart as the library writes it, and what it draws, in words. */
export type WrittenChart = { readonly chart: SheetChart; readonly told: string };

/**
 * The charts of a sheet, beside its cells or below them, each of ranges of cells in any of the
 * sheets, so that it follows what they hold. Throws `invalid_input` for what makes no chart.
 */
export function sheetCharts(
  charts: readonly ChartToWrite[],
  own: WriteSheet,
  sheets: readonly WriteSheet[],
): readonly WrittenChart[] {
  const placeOf = placesIn(own);
  return charts.map((asked, at) => {
    try {
      return written(asked, placeOf(at), own, sheets);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const named = asked.title === undefined ? at + 1 : JSON.stringify(asked.title);
      throw new AppError(error.code, `Chart ${named} of the sheet ${own.name}: ${error.message}. Nothing was written.`);
    }
  });
}

/** Whether a sheet that was read back has these charts, of the same cells. */
export function areDrawn(charts: readonly WrittenChart[], { charts: found = [] }: Sheet): boolean {
  const wanted = charts.flatMap(({ chart: { series } }) => series.flatMap((one) => [one.categories, one.values]));
  const there = found.flatMap(({ series = [] }) => series.flatMap((one) => [one.categoriesRef, one.valuesRef]));
  return found.length === charts.length && there.join() === wanted.join();
}

/** The numbers that a chart draws, against what, and what they are called. */
type Series = { readonly x: ChartRange; readonly y: ChartRange; readonly name: string | undefined };

function written(
  { kind, title, x, y, xTitle, yTitle }: ChartToWrite,
  anchor: SheetChart["anchor"],
  own: WriteSheet,
  sheets: readonly WriteSheet[],
): WrittenChart {
  const series = y.map((text) => seriesOf(chartRange(x, own, sheets), chartRange(text, own, sheets)));
  if (kind === "pie" && series.length > 1) throw invalid("a pie has one y; column shows several");
  const texts = series.reduce((sum, one) => sum + textsIn(one, kind), 0);
  const chart: SheetChart = {
    type: kind,
    ...(title !== undefined && { title: printable(title), altText: printable(title) }),
    series: series.map((one, at) => ({
      ...(one.name !== undefined && { name: printable(one.name) }),
      values: referenceTo(one.y),
      categories: referenceTo(one.x),
      ...drawnAs(kind, at, valuesIn(one.y).length),
    })),
    anchor,
    legend: kind === "pie" ? "right" : series.length > 1 && "bottom",
    ...(kind === "pie"
      ? { dataLabels: { showPercent: true } }
      : { axes: axesOf(kind, along(xTitle, series[0]?.x), along(yTitle, series[0]?.y)) }),
  };
  return { chart, told: toldOf(kind, title, series, texts) };
}

/** What is drawn, in the model's own words: what cells say may be anybody's. */
function toldOf(kind: Kind, title: string | undefined, series: readonly Series[], texts: number): string {
  const unnamed = series.filter(({ name }) => name === undefined).map(({ y }) => y.text);
  const notes = [
    ...(texts > 0 ? [`${counted(texts, "text")} drawn as 0`] : []),
    ...(series.length > 1 && unnamed.length > 0 ? [`no name beside ${unnamed.join(", ")}`] : []),
  ];
  const named = title === undefined ? "" : ` ${JSON.stringify(title)}`;
  const drawn = `${kind} chart${named} of ${series.map(({ y }) => y.text).join(", ")}`;
  return notes.length === 0 ? drawn : `${drawn} (${notes.join("; ")})`;
}

function along(title = "", range: ChartRange | undefined): AxisText {
  return { title: printable(title), format: (range && formatOf(range)) ?? "General" };
}

/** Values may begin with their name if none stands above or left of them; so may x. */
function seriesOf(x: ChartRange, y: ChartRange): Series {
  const [first, ...more] = valuesIn(y);
  const begins = isText(first) && more.length > 0 && headingOf(y) === undefined;
  const values = begins ? withoutFirst(y) : y;
  const [labelled, valued] = [valuesIn(x).length, valuesIn(values).length];
  const isNamed = labelled === valued + 1 && (begins || startOf(x) + 1 === startOf(values));
  if (!isNamed && labelled !== valued)
    throw invalid(`x (${x.text}) has ${counted(labelled, "cell")}, y (${y.text}) ${valued}; give as many`);
  return { x: isNamed ? withoutFirst(x) : x, y: values, name: headingOf(values) };
}

function startOf({ cells, isRow }: ChartRange): number {
  return isRow ? cells.left : cells.top;
}

/** How many texts stand among the numbers. Throws where there is nothing to draw. */
function textsIn({ x, y }: Series, kind: Kind): number {
  const values = valuesIn(y);
  if (!values.some(isNumeric)) throw invalid(`there are no numbers in y (${y.text})`);
  if (kind === "scatter" && !valuesIn(x).some(isNumeric))
    throw invalid(`there are no numbers in x (${x.text}), which scatter needs; line takes texts`);
  if (kind === "pie" && values.some((value) => typeof value === "number" && value < 0))
    throw invalid(`a pie shows no numbers below 0, as in y (${y.text}); column does`);
  return values.filter(isText).length;
}

function isText(value: ChartValue): boolean {
  return typeof value === "string" && value !== "";
}

function isNumeric(value: ChartValue): boolean {
  return value === undefined || typeof value === "number" || value instanceof Date;
}

/** XML has no place for every character. */
function printable(text: string): string {
  return sanitizeLine(text, 255);
}
