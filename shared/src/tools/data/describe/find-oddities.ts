import { counted } from "../../../core/text/counted.ts";
import type { QueryResult } from "../database/database-protocol.ts";
import { cellText } from "../database/result-text.ts";
import { quoted } from "../database/table-of.ts";
import { codeForms, isKey } from "./codes.ts";
import { uncertainOrder } from "./date-order.ts";
import { impossibleDates, strangeDates } from "./dates.ts";
import { derivedOfText, isText, numbered } from "./derived.ts";
import { timeGaps } from "./gaps.ts";
import { strangeNumbers } from "./numbers.ts";
import type { ColumnProfile } from "./oddity.ts";
import { timeOffsets } from "./offsets.ts";
import { numbersAsText, untidyTexts } from "./texts.ts";
import { totalRows } from "./totals.ts";

/** Columns that one query looks at, and cells that all of them together may. */
const columnsAtOnce = 40;
const maxCells = 40_000_000;
const maxRowsCompared = 5_000_000;
/** Asks the database. */
type Query = (sql: string) => Promise<QueryResult>;

const mostlyDifferent = 0.75;
const oddities = [
  uncertainOrder,
  impossibleDates,
  timeOffsets,
  strangeDates,
  timeGaps,
  numbersAsText,
  untidyTexts,
  codeForms,
  totalRows,
  strangeNumbers,
];

/**
 * The oddities of a table, a sentence each: by rows, then column by column. One pass over the data
 * for each forty columns, and one more for duplicate rows; of columns that are too many for that,
 * or not among those given of `all`, it is said how many were not looked at.
 */
export async function findOddities(
  query: Query,
  table: string,
  { rows, columns, all }: { readonly rows: number; readonly columns: readonly ColumnProfile[]; readonly all: number },
): Promise<string[]> {
  const looked = columns.slice(0, Math.max(columnsAtOnce, Math.floor(maxCells / Math.max(1, rows))));
  const odd = [...(await repeatedRows(query, table, rows, looked))];
  for (let at = 0; at < looked.length; at += columnsAtOnce)
    odd.push(...(await oddColumns(query, table, looked.slice(at, at + columnsAtOnce))));
  const left = all - looked.length;
  const notLooked = left === 1 ? "1 column was not looked at" : `the last ${left} columns were not looked at`;
  return left > 0 ? [...odd, notLooked] : odd;
}

async function repeatedRows(
  query: Query,
  table: string,
  rows: number,
  columns: readonly ColumnProfile[],
): Promise<string[]> {
  if (rows > maxRowsCompared) return [`(rows that are there twice were not looked for among ${rows})`];
  const keys = columns.filter(({ name, distinct }) => isKey(name) && distinct >= rows * mostlyDifferent);
  const counts = ["count(*) - count(DISTINCT hash(t))", ...keys.map(({ name }) => repeated(quoted(name, '"')))];
  const [row = []] = (await query(`SELECT ${counts.join(", ")} FROM ${table} AS t`)).rows;
  const [whole, ...ofKeys] = row.map(Number);
  const told = keys.flatMap(({ name }, index) => {
    const count = (ofKeys[index] ?? 0) - (whole ?? 0);
    return count > 0 ? [`${name}: ${counted(count, "value")} that came before, in a row that differs otherwise`] : [];
  });
  return [...(whole ? [`${counted(whole, "row")} that came before, the same in every column`] : []), ...told];
}

function repeated(column: string): string {
  return `count(${column}) - count(DISTINCT ${column})`;
}

async function oddColumns(query: Query, table: string, columns: readonly ColumnProfile[]): Promise<string[]> {
  const asked = columns.flatMap((column) =>
    oddities.flatMap((oddity) => {
      const looks = oddity.looks(column);
      return looks === undefined ? [] : [{ column, oddity, looks }];
    }),
  );
  const expressions = asked.flatMap(({ column, looks }) =>
    Object.values(looks).map((look) => numbered(look, columns.indexOf(column))),
  );
  if (expressions.length === 0) return [];
  // The previous row is requested only where it is used, because it keeps the scan from running in
  // parallel.
  const values = columns.flatMap(({ name }, index) => {
    const value = quoted(name, '"');
    const lag = expressions.some((text) => text.includes(`before${index}`))
      ? [`lag(${value}) OVER () AS before${index}`]
      : [];
    return [`${value} AS c${index}`, ...lag];
  });
  const source = derivedOfText.reduce(
    (from, layer) =>
      `(SELECT *${columns.map((column, index) => derivedFrom(column, layer, index)).join("")} FROM ${from})`,
    `(SELECT ${values.join(", ")} FROM ${table})`,
  );
  const [row = []] = (await query(`SELECT ${expressions.join(", ")} FROM ${source}`)).rows;
  let next = 0;
  return asked.flatMap(({ column, oddity, looks }) => {
    const seen = Object.fromEntries(Object.keys(looks).map((name) => [name, row[next++]]));
    const said = oddity.say(
      (name) => Number(seen[name] ?? 0),
      (name) => cellText(seen[name]),
      column,
    );
    return said === undefined ? [] : [`${column.name}: ${said}`];
  });
}

function derivedFrom(column: ColumnProfile, layer: Readonly<Record<string, string>>, index: number): string {
  if (!isText(column)) return "";
  const derived = Object.entries(layer).map(
    ([name, expression]) => `, ${numbered(expression, index)} AS ${name}${index}`,
  );
  return derived.join("");
}
