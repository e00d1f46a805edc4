/** The rows that a statement gives, each by the names of its columns. */
export type Ask = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** A column as the database reads it. */
export type ReadColumn = { readonly name: string; readonly type: string };

/** What `read_csv` finds in a file by itself. */
export type Sniffed = {
  readonly delimiter: string;
  readonly hasHeader: boolean;
  readonly columns: readonly ReadColumn[];
  /** The forms in which dates, and times of dates, are read; none for ISO 8601. */
  readonly dates: { readonly DATE?: string; readonly TIMESTAMP?: string };
};

/** A table as a FROM clause names it by what `read_csv` takes. */
export function readText(taken: readonly string[]): string {
  return `read_csv(${taken.join(", ")})`;
}

/** `taken` is the file's quoted name, and options. Rejects where it finds no table. */
export async function sniff(ask: Ask, taken: string): Promise<Sniffed> {
  const [row = {}] = await ask(
    `SELECT Delimiter, HasHeader, Columns, DateFormat, TimestampFormat FROM sniff_csv(${taken})`,
  );
  const { DateFormat: day, TimestampFormat: time } = row;
  return {
    delimiter: String(row.Delimiter ?? ""),
    hasHeader: row.HasHeader === true,
    columns: row.Columns as readonly ReadColumn[],
    dates: { ...(typeof day === "string" && { DATE: day }), ...(typeof time === "string" && { TIMESTAMP: time }) },
  };
}

/** The first lines of a file, each whole. */
export async function lines(ask: Ask, name: string, count: number): Promise<string[]> {
  // No file has this delimiter, so each line is one value.
  const whole = `auto_detect = false, delim = '\u0001', quote = '', escape = '', header = false, columns = {'line': 'VARCHAR'}`;
  const rows = await ask(`FROM read_csv(${name}, ${whole}) LIMIT ${count}`);
  return rows.map(({ line }) => String(line ?? ""));
}
