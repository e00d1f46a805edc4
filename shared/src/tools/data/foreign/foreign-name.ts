/**
 * A file that DuckDB does not read itself, and the sheet or table in it, as a statement or a path
 * names them: `book.xlsx/Sheet 2`.
 */
export type ForeignName = {
  readonly name: string;
  readonly file: string;
  readonly part: string | undefined;
  readonly kind: "workbook" | "sqlite";
};

const pattern = /^(.*?\.(?:(xlsx|xlsm)|sqlite3?|db))(?:\/(.+))?$/is;
const quoted = /'((?:[^']|'')+)'|"((?:[^"]|"")+)"/g;

/** The parts of such a name; undefined for any other. */
export function foreignName(name: string): ForeignName | undefined {
  const found = pattern.exec(name);
  if (found === null) return undefined;
  const [, file = "", workbook, part] = found;
  return { name, file, part, kind: workbook === undefined ? "sqlite" : "workbook" };
}

/** Every such name between quotes in a statement, once. Includes texts that only look like one. */
export function foreignNames(sql: string): readonly ForeignName[] {
  const names = [...sql.matchAll(quoted)].map(([, single, double]) =>
    single === undefined ? (double ?? "").replaceAll('""', '"') : single.replaceAll("''", "'"),
  );
  return [...new Set(names)].flatMap((name) => foreignName(name) ?? []);
}
