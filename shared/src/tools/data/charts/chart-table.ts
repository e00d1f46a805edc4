import { isNumberType, isTimeType } from "../database/column-types.ts";
import type { QueryResult } from "../database/database-protocol.ts";

/**
 * A column's content, as far as a chart is concerned. `order`: years, months such as 2024-03 and
 * other values that follow each other.
 */
export type ColumnKind = "number" | "time" | "order" | "name";

/** A value of a chart. */
export type ChartValue = string | number | null;

/** A table to draw. */
export type ChartTable = {
  readonly columns: readonly { readonly name: string; readonly kind: ColumnKind }[];
  readonly rows: readonly (readonly ChartValue[])[];
};

const period = /^\d{4}[-/. ]?(?:Q[1-4]|W\d\d|H[12]|0[1-9]|1[0-2])$/;
const counting = /year|quarter|month|week|day|年|季|月|周|日/i;

/** A query result as numbers, times and names. */
export function chartTable({ columns, rows }: Pick<QueryResult, "columns" | "rows">): ChartTable {
  const isNumber = columns.map(({ type }) => isNumberType(type));
  const values = rows.map((row) => row.map((value, index) => chartValue(value, isNumber[index] === true)));
  const kinds = columns.map(({ name, type }, index): ColumnKind => {
    if (isTimeType(type)) return "time";
    const texts = values.flatMap((row) => (row[index] === null ? [] : [String(row[index])]));
    if (isNumber[index] !== true)
      return texts.length > 0 && texts.every((text) => period.test(text)) ? "order" : "name";
    return counting.test(name) && values.every((row) => Number.isInteger(row[index])) ? "order" : "number";
  });
  return { columns: columns.map(({ name }, index) => ({ name, kind: kinds[index] ?? "name" })), rows: values };
}

function chartValue(value: unknown, isNumber: boolean): ChartValue {
  if (value === null || value === undefined) return null;
  if (!isNumber) return typeof value === "string" ? value : JSON.stringify(value);
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** The rows as records by column name. */
export function records({ columns, rows }: ChartTable): Record<string, ChartValue>[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null])));
}

/** Whether a column holds numbers and nothing else. */
export function isNumeric({ rows }: ChartTable, index: number): boolean {
  return rows.every((row) => row[index] === null || typeof row[index] === "number");
}
