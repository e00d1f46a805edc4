import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { firstOf } from "../../../core/text/counted.ts";
import { quoted } from "../database/table-of.ts";
import { writtenNumbers } from "../database/written-numbers.ts";
import { type ChartTable, isNumeric } from "./chart-table.ts";
import { coordinatesOf } from "./coordinates.ts";

/** The shapes a chart can have. */
const chartKinds = [
  "line",
  "area",
  "bar",
  "stacked",
  "pie",
  "scatter",
  "histogram",
  "box",
  "heatmap",
  "sankey",
  "radar",
  "treemap",
  "wordcloud",
  "map",
] as const;
/** One of the shapes. */
export type ChartKind = (typeof chartKinds)[number];

/** How rows that share their place are combined into one value. */
const aggregations = ["sum", "mean", "median", "min", "max", "count"] as const;

/**
 * A caller's description of a chart; columns by their names. What is omitted follows from the
 * columns; when it doesn't, the caller is asked for it.
 */
export const chartRequest = {
  chart: z.enum(chartKinds).optional(),
  x: z.string().min(1).optional(),
  y: z
    .union([
      z
        .string()
        .min(1)
        .transform((name) => [name]),
      z.array(z.string().min(1)).min(1),
    ])
    .optional(),
  series: z.string().min(1).optional(),
  aggregate: z.enum(aggregations).optional(),
};
const request = z.object(chartRequest);
/** A checked request. */
export type ChartRequest = z.output<typeof request>;

/**
 * The roles of a chart's columns, by their indexes: the places, the measures, and the part that
 * splits rows into series.
 */
export type ChartRoles = {
  readonly along: number | undefined;
  readonly measures: readonly number[];
  readonly parts: number | undefined;
};

/** A table with the roles of its columns. */
export type Plot = ChartTable & { readonly roles: ChartRoles };

/** The number of colours that people can distinguish. */
export const maxParts = 10;
const maxSlices = 12;

/**
 * Decides what to draw of a table. Columns that the request names are used as named; the others
 * only when they can have no other role. Rejects with `invalid_input`, the available columns and
 * how to name them, when the table leaves the choice open or cannot be drawn this way.
 */
export function resolveRoles(table: ChartTable, request: ChartRequest): { kind: ChartKind; roles: ChartRoles } {
  const of = (...kinds: string[]) =>
    [...table.columns.keys()].filter((index) => kinds.includes(table.columns[index]?.kind ?? ""));
  const refuse = (problem: string): never => {
    throw new AppError("invalid_input", `${problem} ${columnsText(table)} ${howTo}`);
  };
  const place = (name: string): number => {
    const exact = table.columns.findIndex((column) => column.name === name);
    const found = exact < 0 ? table.columns.findIndex((column) => same(column.name, name)) : exact;
    return found < 0 ? refuse(`There is no column ${JSON.stringify(name)}.`) : found;
  };
  const [x, series] = [request.x, request.series].map((name) => (name === undefined ? undefined : place(name)));
  const named = request.y?.map(place);
  const isCount = request.aggregate === "count" && named === undefined;
  const text = named?.find((index) => table.columns[index]?.kind === "time" || table.columns[index]?.kind === "name");
  if (text !== undefined && request.aggregate !== "count")
    refuse(textNumbersOf(table, text) ?? `y: ${table.columns[text]?.name} holds no numbers${exampleOf(table, text)}.`);
  const taken = new Set([x, series, ...(named ?? [])]);
  const free = (indices: readonly number[]) => indices.filter((index) => !taken.has(index));
  const numbers = isCount ? [] : (named ?? free(of("number")));
  const { chart } = request;

  const points = chart === "map" ? coordinatesOf(table, { x, numbers, isNamed: named !== undefined }) : undefined;
  if (points !== undefined) return { kind: "map", roles: { along: undefined, measures: points, parts: series } };
  if (chart === "histogram" || chart === "scatter" || chart === "box") {
    const found = measuresOf(table, chart, { x, series, numbers });
    return typeof found === "string" ? refuse(found) : { kind: chart, roles: found };
  }
  const along = x ?? alongOf();
  if (along === undefined) {
    if (numbers.length === 0) refuse(["No column holds numbers.", ...textNumbersIn(table)].join(" "));
    if (numbers.length > 2 || chart !== undefined) refuse("No column says what the numbers go along.");
    const kind = numbers.length === 1 ? "histogram" : "scatter";
    return { kind, roles: { along: undefined, measures: numbers, parts: series } };
  }
  // A table of counts only (year, visitors of the day) has no other number to measure.
  const counts = named === undefined && !isCount && numbers.length === 0;
  const measures = counts ? free(of("order")).filter((index) => isNumeric(table, index) && index !== along) : numbers;
  if (measures.length === 0 && !isCount && table.columns.length > 1)
    refuse(["No column holds numbers.", ...textNumbersIn(table), 'To count rows, say "aggregate": "count".'].join(" "));
  if (measures.length > maxParts)
    refuse(
      `There are ${measures.length} columns of numbers, more than the ${maxParts} that can be told apart. Name some in y, or make them rows: COPY (UNPIVOT 'file.csv' ON COLUMNS(* EXCLUDE "${table.columns[along]?.name}") INTO NAME "name" VALUE "value") TO 'rows.csv'.`,
    );
  if (measures.length > 1 && series !== undefined) refuse("Series go with one y.");
  const parts = series ?? (measures.length > 1 ? undefined : seriesOf(along, measures, chart === "sankey"));
  const kind = chart ?? (table.columns[along]?.kind === "name" ? "bar" : "line");
  const lack = lackOf(kind, { measures, parts });
  if (lack !== undefined) refuse(lack);
  return { kind, roles: { along, measures, parts } };

  /**
   * The only column that the numbers can go along: one in order of time, otherwise one of names; of
   * two columns of names the first.
   */
  function alongOf(): number | undefined {
    const names = free(of("name"));
    const courses = free([...of("time", "order"), ...names.filter((index) => isCalendar(table, index))]);
    const open = courses.length > 0 ? courses : names.length === 2 && numbers.length > 0 ? names.slice(0, 1) : names;
    if (open.length < 2) return open[0];
    const unmeasured = numbers.length === 0 && named === undefined && !isCount ? " No column holds numbers only." : "";
    return refuse(
      `It is open whether x is ${open.map((index) => table.columns[index]?.name).join(" or ")}.${unmeasured}`,
    );
  }

  /** The only column that splits rows which share their place along x. */
  function seriesOf(along: number, measures: readonly number[], isNeeded: boolean): number | undefined {
    if (!isNeeded && (request.aggregate !== undefined || !hasRepeats(table, [along]))) return undefined;
    const others = free(of("name", "time", "order")).filter((index) => index !== along && !measures.includes(index));
    if (others.length > 1) {
      const reason = isNeeded ? "" : `Several rows share their ${table.columns[along]?.name}: `;
      refuse(`${reason}${reason === "" ? "It" : "it"} is open which of the other columns makes the series.`);
    }
    return others[0];
  }
}

/**
 * The roles in a chart of numbers that go along nothing; or what it needs, as a sentence, if these
 * columns do not fit.
 */
function measuresOf(
  table: ChartTable,
  chart: "histogram" | "scatter" | "box",
  {
    x,
    series,
    numbers,
  }: { readonly x?: number | undefined; readonly series?: number | undefined; readonly numbers: readonly number[] },
): ChartRoles | string {
  if (chart === "box") {
    const isOne = numbers.length === 1 && numbers.every((index) => isNumeric(table, index)) && series === undefined;
    if (!isOne) return "A box chart takes one column of numbers in y, and the groups in x if there are any.";
    return { along: x, measures: numbers, parts: undefined };
  }
  const wanted = chart === "histogram" ? 1 : 2;
  const measures = x === undefined ? numbers : [x, ...numbers];
  if (measures.length !== wanted || measures.some((index) => !isNumeric(table, index)))
    return `A ${chart} takes ${wanted === 1 ? "one column of numbers" : "two columns of numbers, x and y"}.`;
  return { along: undefined, measures, parts: series };
}

/**
 * Rejects with `invalid_input` when rows share their place in a chart that has one value for each.
 */
export function requireOneEach({ columns, rows, roles: { along, parts } }: Plot, kind: ChartKind): void {
  if (along === undefined || kind === "box") return;
  const places = parts === undefined ? [along] : [along, parts];
  if (!hasRepeats({ columns, rows }, places)) {
    if (kind === "pie" && rows.length > maxSlices)
      throw new AppError(
        "invalid_input",
        `A pie of ${rows.length} slices can't be read: ${maxSlices} at most. Sum up the small ones, or draw a bar chart.`,
      );
    return;
  }
  const shared = places.map((index) => columns[index]?.name).join(" and ");
  throw new AppError(
    "invalid_input",
    `Several rows share their ${shared}. Say how they become one value with "aggregate": ${aggregations.join(", ")}; or name the column that parts them in "series".`,
  );
}

/** Whether several rows have the same values in these columns. */
function hasRepeats({ rows }: Pick<ChartTable, "columns" | "rows">, places: readonly number[]): boolean {
  return new Set(rows.map((row) => JSON.stringify(places.map((index) => row[index])))).size < rows.length;
}

const howTo = `Name them in the item: {"csvFilePath": "…", "chartTitle": "…", "chart": "line", "x": "month", "y": "sales", "series": "year", "aggregate": "sum"}; leave out what does not apply.`;

const maxNamed = 40;

function columnsText({ columns }: ChartTable): string {
  const words = { number: "numbers", time: "times", order: "an order", name: "names" };
  const named = columns.map(({ name, kind }) => `${name} (${words[kind]})`);
  return `The columns: ${firstOf(named, maxNamed)}.`;
}

function exampleOf({ rows }: ChartTable, index: number): string {
  const odd = rows.find((row) => typeof row[index] === "string" && !Number.isFinite(Number(row[index])))?.[index];
  return odd === undefined ? "" : ` (${JSON.stringify(odd)}, for example)`;
}

const languages = ["en", "de", "fr", "es", "it", "pt", "nl", "zh"];
/** A day of each month, and a whole week. */
const days = [
  ...Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2024, month, 1))),
  ...Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2024, 0, 1 + day))),
];
/** The names of months and weekdays, long and short, without the full stops of abbreviations. */
const calendar = new Set(
  languages.flatMap((language) =>
    [{ month: "long" }, { month: "short" }, { weekday: "long" }, { weekday: "short" }].flatMap((part) => {
      const format = new Intl.DateTimeFormat(language, { ...part, timeZone: "UTC" } as Intl.DateTimeFormatOptions);
      return days.map((day) => plain(format.format(day)));
    }),
  ),
);

/**
 * Whether a column of names holds months, quarters or weekdays, which are in order of time like a
 * column of dates.
 */
function isCalendar({ rows }: ChartTable, index: number): boolean {
  return rows.every((row) => row[index] === null || isCalendarWord(plain(String(row[index]))));
}

function isCalendarWord(word: string): boolean {
  return calendar.has(word) || /^(?:q|h)[1-4]$/.test(word);
}

function plain(text: string): string {
  return text.trim().toLowerCase().replace(/\.$/, "");
}

function same(one: string, other: string): boolean {
  return plain(one) === plain(other);
}

/** What a chart of this kind needs and these roles do not give it; undefined if nothing. */
function lackOf(
  kind: string,
  { measures, parts }: { readonly measures: readonly number[]; readonly parts: number | undefined },
): string | undefined {
  const [isOne, isParted] = [measures.length < 2, parts !== undefined];
  if (kind === "stacked" && isOne && !isParted) return "A stacked chart needs a series, or several columns in y.";
  if (kind === "heatmap" && !(isOne && isParted))
    return "A heat map takes x, the column that goes down as series, and one column of numbers in y.";
  if (kind === "sankey" && !(isOne && isParted))
    return "A sankey takes x, where a flow comes from, series, where it goes to, and one column of numbers in y.";
  if (kind === "treemap" && !isOne)
    return "A treemap takes x, one column of numbers in y, and the groups as series if there are any.";
  if (kind === "wordcloud" && !(isOne && !isParted))
    return "A word cloud takes x, a word in each row, and one column of numbers in y; it has no series.";
  if (kind === "map" && !(isOne && !isParted))
    return "A map takes x, the countries, and one column of numbers in y; or x, the longitude, and y, the latitude.";
  return kind === "pie" && !(isOne && !isParted) ? "A pie has one y and no series." : undefined;
}

/**
 * What to do about a column of texts that are numbers to a person, as 1.234,56; undefined for any
 * other.
 */
export function textNumbersOf({ columns, rows }: ChartTable, index: number): string | undefined {
  const { name = "", kind } = columns[index] ?? {};
  if (kind !== "name") return undefined;
  const values = rows.map((row) => row[index]);
  const [way, other] = writtenNumbers(name, values);
  if (way === undefined) return undefined;
  const example = values.find((value) => typeof value === "string" && /\D/.test(value));
  const column = quoted(name, '"');
  const otherwise = other === undefined ? "" : `, or with ${other.sql} if the ${other.sign} is the decimal sign`;
  return `${name} holds numbers written as text, such as ${JSON.stringify(example)}, which the database does not read as numbers either. Draw a file of numbers: COPY (SELECT * REPLACE (${way.sql} AS ${column}) FROM 'file.csv') TO 'numbers.csv'${otherwise}.`;
}

/** The same of all columns, a sentence each. */
function textNumbersIn(table: ChartTable): string[] {
  return table.columns.flatMap((_, index) => textNumbersOf(table, index) ?? []);
}
