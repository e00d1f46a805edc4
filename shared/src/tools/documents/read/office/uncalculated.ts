import { colToLetter, readXlsx } from "hucre/xlsx";
import { zipContent } from "../zip-content.ts";

/** Formulas are read with their whole workbook; of one that unpacks to more they are not. */
const maxWholeBytes = 48 * 2 ** 20;

/** Cells with a formula of which the file stores no value. */
export type Uncalculated = {
  readonly count: number;
  /** How many there are in each column, by its number from 0. */
  readonly byColumn: ReadonlyMap<number, number>;
  /** The address of the first. */
  readonly first: string;
};

/**
 * The cells of a sheet that read as empty because whatever wrote the file (a library, ours too) did
 * not calculate their formulas; undefined without any. `unknown` for a workbook that is too
 * large to look at them. Those that were `computed` by `calculated` are not among them.
 */
export async function uncalculatedIn(
  content: Uint8Array,
  sheet: string,
  computed: ReadonlyMap<string, unknown> = new Map(),
): Promise<Uncalculated | "unknown" | undefined> {
  if ((await zipContent(content)).unpackedBytes > maxWholeBytes) return "unknown";
  const { sheets } = await readXlsx(content, { sheets: [sheet] });
  const places = [...(sheets[0]?.cells ?? [])].flatMap(([key, cell]) =>
    isUncalculated(cell) && !computed.has(`${sheet}!${key}`) ? [key.split(",").map(Number)] : [],
  );
  const [row = 0, column = 0] = places[0] ?? [];
  if (places.length === 0) return undefined;
  const byColumn = new Map<number, number>();
  for (const [, at = 0] of places) byColumn.set(at, (byColumn.get(at) ?? 0) + 1);
  return { count: places.length, byColumn, first: `${colToLetter(column)}${row + 1}` };
}

/** Whether a cell has a formula and neither the value it had when last calculated nor an error. */
export function isUncalculated(cell: {
  readonly formula?: string | undefined;
  readonly formulaResult?: unknown;
  readonly value?: unknown;
}): boolean {
  return cell.formula !== undefined && (cell.formulaResult ?? cell.value ?? null) === null;
}

/** Named only where it is: a command that is not there costs a turn. */
const otherwise = Bun.which("soffice") === null ? "" : ", or have one save it (soffice --headless --convert-to xlsx)";

/** Where such cells get their values. */
export const calculateFirst = `A spreadsheet program computes them when it opens the file; here compute them from the cells they name${otherwise}.`;

const maxNamed = 8;

/** What a reader of the table has to know of them; `columns` are the table's names. */
export function uncalculatedNote({ count, byColumn, first }: Uncalculated, columns: readonly string[]): string {
  const [cells, have] = count === 1 ? ["cell", "has"] : ["cells", "have"];
  const named = [...byColumn].slice(0, maxNamed).map(([at, times]) => `${columns[at] ?? colToLetter(at)}: ${times}`);
  const more = byColumn.size > named.length ? ` and ${byColumn.size - named.length} more columns` : "";
  return `${count} ${cells} ${have} a formula without a stored value and ${count === 1 ? "is" : "are"} NULL here (${named.join(", ")}${more}; the first is ${first}). ${calculateFirst}`;
}
