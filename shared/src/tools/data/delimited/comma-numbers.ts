import { isNumberType } from "../database/column-types.ts";
import type { Column } from "../database/database-protocol.ts";
import { quoted } from "../database/table-of.ts";
import { type DelimitedFile, lookAtDelimited, orNothing, type Query, readText } from "./delimited-file.ts";

const comma = "'[-+]?(\\d{1,3}(\\.\\d{3})+|\\d+)(,\\d+)?'";
const point = "'[-+]?(\\d{1,3}(,\\d{3})+|\\d+)(\\.\\d+)?'";
/** No thousand begins with a nought. */
const thousands = "'[-+]?([1-9]\\d{0,2}(\\.\\d{3})*|0)'";
const whole = "'[^.]*'";

/**
 * What the database misread of a file whose numbers are written as 1.234,5 is, and the file as a
 * FROM clause names it to have them right.
 */
export type CommaNumbers = {
  /** Columns that were kept as texts for their commas. */
  readonly texts: readonly string[];
  /** Columns whose thousands may have been taken for decimals. */
  readonly thousands: readonly string[];
  readonly table: string;
};

/**
 * Looks only into a file with another sign of such numbers, its delimiter or dates such as
 * 3.4.2026, and says nothing of one in which a point begins decimals.
 */
export async function commaNumbers(
  query: Query,
  file: DelimitedFile,
  columns: readonly Column[],
): Promise<CommaNumbers> {
  const asked = columns.filter(({ type }) => type === "VARCHAR" || isNumberType(type));
  const isSuspect = file.delimiter !== "," || /^%d\.%m\./.test(file.dates.DATE ?? file.dates.TIMESTAMP ?? "");
  const table = readText(file, ["decimal_separator = ','", "thousands = '.'"]);
  const none = { texts: [], thousands: [], table };
  if (!isSuspect || asked.length === 0) return none;
  const counts = asked.flatMap(({ name, type }) => {
    const text = `trim(${quoted(name, '"')})`;
    const [such, other] = type === "VARCHAR" ? [comma, point] : [thousands, whole];
    return [such, other].map((form) => `count(*) FILTER (NOT regexp_full_match(${text}, ${form}))`);
  });
  const texts = readText(file, ["all_varchar = true"]);
  const [row] = (await orNothing(query(`SELECT ${counts.join(", ")} FROM ${texts}`)))?.rows ?? [];
  if (row === undefined) return none;
  const found = asked.map(({ name, type }, index) => {
    const [notSuch, notOther] = [Number(row[2 * index]), Number(row[2 * index + 1])];
    return {
      name,
      isText: type === "VARCHAR",
      isSuch: notSuch === 0 && notOther > 0,
      isOther: notSuch > 0 && notOther > 0,
    };
  });
  if (found.some(({ isText, isOther }) => !isText && isOther)) return none;
  const such = found.filter(({ isSuch }) => isSuch);
  return {
    texts: such.filter(({ isText }) => isText).map(({ name }) => name),
    thousands: such.filter(({ isText }) => !isText).map(({ name }) => name),
    table,
  };
}

/** A sentence for columns whose thousands may have been taken for decimals; none without any. */
function sayThousands({ table }: CommaNumbers, columns: readonly string[]): string[] {
  const doubt = "read as decimals, though three digits follow every point, as where points part thousands";
  return columns.length === 0 ? [] : [`${columns.join(", ")}: ${doubt}; if they do, FROM ${table} reads them so`];
}

/** The sentences for a whole file. */
export function sayCommaNumbers(found: CommaNumbers): string[] {
  const told = `numbers kept as text for their decimal commas; FROM ${found.table} reads them as numbers`;
  const texts = found.texts.length === 0 ? [] : [`${found.texts.join(", ")}: ${told}`];
  return [...texts, ...sayThousands(found, found.thousands)];
}

/** `sayThousands` for those of a file's columns that are used, as whole sentences. */
export async function thousandsIn(
  query: Query,
  name: string | undefined,
  { columns, used }: { readonly columns: readonly Column[]; readonly used: readonly string[] },
): Promise<string[]> {
  if (name === undefined || !columns.some((column) => used.includes(column.name) && column.type === "DOUBLE"))
    return [];
  const file = await lookAtDelimited(query, name, []);
  if (file === undefined) return [];
  const found = await commaNumbers(query, file, columns);
  const doubted = found.thousands.filter((column) => used.includes(column));
  return sayThousands(found, doubted).map((doubt) => `${doubt}.`);
}
