import { isNumberType } from "../database/column-types.ts";
import type { Column, FileRead, QueryResult } from "../database/database-protocol.ts";
import { quoted } from "../database/table-of.ts";
import { type Ask, type ReadColumn, readText, type Sniffed } from "./sniff.ts";

const comma = "'[-+]?(\\d{1,3}(\\.\\d{3})+|\\d+)(,\\d+)?'";
const point = "'[-+]?(\\d{1,3}(,\\d{3})+|\\d+)(\\.\\d+)?'";
/** No thousand begins with a nought. */
const thousands = "'[-+]?([1-9]\\d{0,2}(\\.\\d{3})*|0)'";
const whole = "'[^.]*'";
/** As many rows as the database looks at to tell the types. */
const sampleRows = 20_480;

/** What the database misreads of a file whose numbers are written as 1.234,5 is. */
export type CommaNumbers = {
  /** Columns that it would keep as texts for their commas. */
  readonly commas: string[];
  /** Columns whose thousands it may take for decimals; none where commas tell. */
  readonly thousands: string[];
  /** What `read_csv` takes to have both right. */
  readonly options: readonly string[];
};

/**
 * Looks only into a file with another sign of such numbers, its delimiter or dates such as
 * 3.4.2026, and finds none where a point begins decimals. `taken` is what `read_csv` takes so far.
 */
export async function commaNumbers(ask: Ask, taken: readonly string[], file: Sniffed): Promise<CommaNumbers> {
  const options = ["decimal_separator = ','", "thousands = '.'"];
  const none = { commas: [], thousands: [], options };
  const asked = file.columns.filter(({ type }) => type === "VARCHAR" || isNumberType(type));
  const isSuspect = file.delimiter !== "," || /^%d\.%m\./.test(file.dates.DATE ?? file.dates.TIMESTAMP ?? "");
  if (!isSuspect || asked.length === 0) return none;
  const texts = readText([...taken, "all_varchar = true"]);
  const sample = await formsOf(ask, `(FROM ${texts} LIMIT ${sampleRows})`, asked);
  if (!sample.some(({ isSuch }) => isSuch)) return none;
  const found = await formsOf(ask, texts, asked);
  if (found.some(({ type, isOther }) => type !== "VARCHAR" && isOther)) return none;
  const such = found.filter(({ isSuch }) => isSuch);
  const commas = such.filter(({ type }) => type === "VARCHAR").map(({ name }) => name);
  const others = such.map(({ name }) => name).filter((name) => !commas.includes(name));
  const kept = await keptTexts(ask, readText([...taken, ...options]), file.columns, commas);
  return { commas, thousands: commas.length === 0 ? others : [], options: [...options, ...kept] };
}

type Form = ReadColumn & { readonly isSuch: boolean; readonly isOther: boolean };

/** Which columns are written as 1.234,5 throughout, and which are not. */
async function formsOf(ask: Ask, table: string, columns: readonly ReadColumn[]): Promise<Form[]> {
  const counts = columns.flatMap(({ name, type }, at) => {
    const text = `trim(${quoted(name, '"')})`;
    const forms = type === "VARCHAR" ? { such: comma, other: point } : { such: thousands, other: whole };
    return Object.entries(forms).map(
      ([kind, form]) => `count(*) FILTER (NOT regexp_full_match(${text}, ${form})) AS ${kind}${at}`,
    );
  });
  const [row = {}] = await ask(`SELECT ${counts.join(", ")} FROM ${table}`);
  return columns.map((column, at) => {
    const [notSuch, notOther] = [Number(row[`such${at}`]), Number(row[`other${at}`])];
    return { ...column, isSuch: notSuch === 0 && notOther > 0, isOther: notSuch > 0 && notOther > 0 };
  });
}

/** The option that leaves other texts what they are: 1.2.3 is no number with thousands. */
async function keptTexts(
  ask: Ask,
  table: string,
  columns: readonly ReadColumn[],
  commas: readonly string[],
): Promise<string[]> {
  const types = new Map((await ask(`DESCRIBE FROM ${table}`)).map((row) => [row.column_name, row.column_type]));
  const kept = columns.filter(
    ({ name, type }) => type === "VARCHAR" && types.get(name) !== "VARCHAR" && !commas.includes(name),
  );
  const fields = kept.map(({ name }) => `${quoted(name, "'")}: 'VARCHAR'`);
  return fields.length === 0 ? [] : [`types = {${fields.join(", ")}}`];
}

/**
 * Of those columns that are used, which may have been misread in a file, a sentence for each file.
 */
export function sayThousands(
  { files, columns }: Pick<QueryResult, "files"> & { readonly columns: readonly Column[] },
  used: readonly string[] = columns.map(({ name }) => name),
): string[] {
  const isUsed = (name: string) =>
    used.includes(name) && columns.some((column) => column.name === name && column.type === "DOUBLE");
  return files.flatMap(({ thousands: { columns: all, table } }: FileRead) => {
    const doubted = all.filter(isUsed);
    const doubt = "read as decimals, though three digits follow every point, as where points part thousands";
    return doubted.length === 0 ? [] : [`${doubted.join(", ")}: ${doubt}; if they do, FROM ${table} reads them so`];
  });
}
