/** A value in a workbook or an SQLite file. */
export type ForeignValue = string | number | bigint | boolean | Date | Uint8Array | null;

/** A complete sheet or table. */
export type ForeignTable = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ForeignValue[])[];
  /** What a reader of the rows has to know of them, a sentence each. */
  readonly notes?: readonly string[];
};

/** The most cells that one file may load. */
const maxCells = 5_000_000;
const maxColumns = 2_000;
const maxTextBytes = 256 * 1024 * 1024;
/** The largest workbook or database file that is read, as it is held in memory. */
export const maxFileBytes = 200 * 1024 * 1024;

/** Rejects a table with more cells than fit in memory. */
export function checkCells(rows: number, columns: number, name: string): void {
  if (columns > maxColumns) throw new Error(`${name} has more than ${maxColumns} columns.`);
  if (rows * columns > maxCells)
    throw new Error(`${name} has more than ${maxCells / 1_000_000} million cells: convert it to CSV or Parquet first.`);
}

/** Counts the text of a table, and rejects more than fits in memory. */
export function textCounter(name: string): (row: readonly ForeignValue[]) => void {
  let total = 0;
  return (row) => {
    for (const value of row) total += typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
    if (total > maxTextBytes) throw new Error(`${name} holds more than ${maxTextBytes / 2 ** 20} MB of text.`);
  };
}

/**
 * Non-empty names that differ, ignoring case: `column_2` for a missing one, `name_2` for a repeated
 * one.
 */
export function columnNames(given: readonly string[]): string[] {
  const used = new Set<string>();
  return given.map((text, index) => {
    const base = text.trim() === "" ? `column_${index + 1}` : text.trim();
    let name = base;
    for (let next = 2; used.has(name.toLowerCase()); next++) name = `${base}_${next}`;
    used.add(name.toLowerCase());
    return name;
  });
}
