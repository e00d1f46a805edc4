import { quoted } from "../database/table-of.ts";
import { type CommaNumbers, commaNumbers } from "./comma-numbers.ts";
import { raggedLines } from "./ragged-lines.ts";
import { type Ask, lines, type ReadColumn, readText, type Sniffed, sniff } from "./sniff.ts";
import { twoLineHeading } from "./two-line-heading.ts";

/** The table in a file of lines with delimiters. */
export type DelimitedFile = {
  /**
   * What `read_csv` takes, beside the name, to read the table; nothing if it finds it by itself.
   */
  readonly options: readonly string[];
  /** What a reader of the table has to know of it, a sentence each, without the file's name. */
  readonly notes: readonly string[];
  readonly dates: Sniffed["dates"];
  /**
   * Columns whose thousands may have been taken for decimals, and the table in which they are not.
   */
  readonly thousands: { readonly columns: string[]; readonly table: string };
};

/**
 * Decides what the table in a file is, by the file's quoted name: where it begins, what names its
 * columns, and how its numbers are written. Rejects where the database cannot read the file.
 */
export async function lookAtDelimited(ask: Ask, name: string): Promise<DelimitedFile> {
  const whole = await sniff(ask, name);
  const ragged = await raggedLines(ask, name, whole);
  const first = ragged.length === 0 ? whole : await sniff(ask, [name, ...ragged].join(", "));
  const headings = ragged.length === 0 ? await headingLines(ask, name, first.columns) : 0;
  const skip = headings === 0 ? ragged : [`skip = ${headings}`];
  const below = headings === 0 ? first : await sniff(ask, [name, ...skip].join(", "));
  const isNamed = below.hasHeader || !(await areYearsNames(ask, [name, ...skip].join(", "), below));
  const two = await twoLineHeading(ask, name, { lines: headings, found: below });
  const named = two?.options ?? (isNamed ? skip : [...skip, "header = true"]);
  const again = two === undefined && isNamed ? below : await sniff(ask, [name, ...named].join(", "));
  const dated = await dayFirst(ask, [name, ...named], again);
  const start = [...named, ...dated];
  const found = dated.length === 0 ? again : await sniff(ask, [name, ...start].join(", "));
  const numbers = await commaNumbers(ask, [name, ...start], found);
  return {
    options: [...start, ...(numbers.commas.length === 0 ? [] : numbers.options)],
    notes: [
      ...(ragged.length === 0 ? [] : [sayRagged]),
      ...sayHeadings(headings, name),
      ...(two === undefined ? [] : [`two lines name the columns (${two.names.slice(0, fewNames).join(", ")} …)`]),
      ...(dated.length === 0 ? [] : [`dates with a year of two digits are read day first (${dated[0]})`]),
      ...sayCommas(numbers),
    ],
    dates: found.dates,
    thousands: { columns: numbers.thousands, table: readText([name, ...start, ...numbers.options]) },
  };
}

const fewNames = 3;
const sayRagged =
  "some lines have a value too many or too few, or a quote that is not closed: what is missing is NULL, what is too much is in columns of its own; check those rows";
/** How the database takes dates with a year of two digits. */
const yearFirst = /^%y\.%m\.%d/;

/** With points and a year of two digits the day comes first, if each date can be read so. */
async function dayFirst(ask: Ask, taken: readonly string[], { dates, columns }: Sniffed): Promise<readonly string[]> {
  const option = dates.DATE === undefined ? "timestampformat" : "dateformat";
  const form = dates.DATE ?? dates.TIMESTAMP ?? "";
  if (!yearFirst.test(form)) return [];
  const options = [`${option} = ${quoted(form.replace(yearFirst, "%d.%m.%y"), "'")}`];
  const read = (await sniff(ask, [...taken, ...options].join(", "))).columns;
  return read.every(({ type }, at) => type === columns[at]?.type) ? options : [];
}

function sayHeadings(lines: number, name: string): string[] {
  const are = lines === 1 ? "line stands above the table and is" : "lines stand above the table and are";
  return lines === 0 ? [] : [`${lines} ${are} left out; FROM read_csv(${name}) has ${lines === 1 ? "it" : "them"}`];
}

function sayCommas({ commas }: CommaNumbers): string[] {
  return commas.length === 0
    ? []
    : [`numbers are read with decimal commas and points between thousands (${commas.join(", ")})`];
}

const maxHeadings = 20;
/** The database's names for columns that the first line does not name. */
const unnamed = /^column\d+$/;
const delimiters = [",", ";", "\t", "|"];
const mostlyFilled = 0.8;

/**
 * How many lines stand above the one that names the columns; 0 if the first does, and where it is
 * not plain which one does.
 */
async function headingLines(ask: Ask, name: string, columns: readonly ReadColumn[]): Promise<number> {
  const missing = columns.filter((column) => unnamed.test(column.name)).length;
  if (missing * 2 <= columns.length) return 0;
  const at = (await lines(ask, name, maxHeadings + 1)).findIndex((line) =>
    delimiters.some((sign) => namesColumns(line.split(sign), columns.length)),
  );
  if (at < 1) return 0;
  const found = (await sniff(ask, `${name}, skip = ${at}`)).columns;
  const left = found.filter((column) => unnamed.test(column.name)).length;
  return found.length === columns.length && left < missing ? at : 0;
}

function namesColumns(cells: readonly string[], count: number): boolean {
  const filled = cells.filter((cell) => cell.trim() !== "");
  return (
    cells.length === count &&
    filled.length >= Math.max(2, count * mostlyFilled) &&
    filled.every((cell) => /\p{L}/u.test(cell))
  );
}

const maxRead = 1000;
const year = /^(?:1[5-9]|20|21)\d\d$/;

/**
 * Whether the first row names columns though it has numbers where the others have them: years, in
 * columns of which nothing else is a year, beside texts that stand nowhere else.
 */
async function areYearsNames(ask: Ask, taken: string, { columns }: Sniffed): Promise<boolean> {
  const isText = columns.map(({ type }) => type === "VARCHAR");
  if (!isText.includes(true) || !isText.includes(false)) return false;
  const rows = await ask(`FROM read_csv(${taken}, header = false, all_varchar = true) LIMIT ${maxRead}`);
  const [names = [], ...others] = rows.map((row) => Object.values(row).map((cell) => String(cell ?? "").trim()));
  if (others.length === 0 || new Set(names).size < columns.length) return false;
  return names.every((cell, at) =>
    isText[at] === true
      ? /\p{L}/u.test(cell) && others.every((row) => row[at] !== cell)
      : year.test(cell) && !others.some((row) => year.test(row[at] ?? "")),
  );
}
