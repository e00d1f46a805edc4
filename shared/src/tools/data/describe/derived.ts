import type { ColumnProfile } from "./oddity.ts";

const dateShape = "'\\d{1,4}[-/.]\\d{1,2}[-/.]\\d{1,4}(?:[ T].*)?'";
const numberShape = "'[-+(]?[$€£¥]?\\s?\\d[\\d.,''\\s]*(?:[eE][-+]?\\d+)?\\s?[%€$£¥]?\\)?'";
const forms = ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"];
/** The date without a time of day behind it. */
export const firstWord = "split_part(replace(trim(c), 'T', ' '), ' ', 1)";
const offsetShape = "':\\d{2}(?:\\.\\d+)?\\s?(?:Z|[-+]\\d{2}(?::?\\d{2})?)$'";
/** Longer texts are neither dates nor numbers. */
const longest = 40;

/**
 * Values computed once for each text `c` that several checks need, in two layers: `dated` (looks
 * like a date) and `number` (looks like one), then `day` (its date) and `zoned` (its time has an
 * offset from UTC).
 */
export const derivedOfText: readonly Readonly<Record<string, string>>[] = [
  {
    dated: `CASE WHEN length(c) <= ${longest} THEN regexp_full_match(trim(c), ${dateShape}) ELSE false END`,
    number: `CASE WHEN length(c) <= ${longest} THEN regexp_full_match(trim(c), ${numberShape}) ELSE false END`,
  },
  {
    day: `CASE WHEN dated THEN coalesce(TRY_CAST(trim(c) AS TIMESTAMP), try_strptime(${firstWord}, [${forms.map((form) => `'${form}'`).join(", ")}])) END`,
    zoned: `CASE WHEN dated THEN regexp_matches(trim(c), ${offsetShape}) ELSE false END`,
  },
];

/** Whether a column holds text. */
export function isText({ type }: ColumnProfile): boolean {
  return type === "VARCHAR";
}

/** An expression for the column with this number: every name in it gets the number. */
export function numbered(expression: string, index: number): string {
  return expression.replaceAll(/\b(c|before|dated|number|day|zoned)\b/g, `$1${index}`);
}
