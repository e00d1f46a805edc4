import { quoted } from "./table-of.ts";

/** How texts may be read as numbers: which sign begins the decimals, and the SQL for it. */
export type WrittenNumbers = { readonly sign: "comma" | "point"; readonly sql: string };

/** Units, and the thousands of 20'614.05. */
const unit = /[€$£¥%\s'’]/g;
/** A number below zero as accounts write it: (12.50). */
const negative = /^\((.*)\)$/;
const forms = {
  comma: /^[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?$/,
  point: /^[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/,
};

/**
 * The ways to read a column of texts that are numbers to a person and not to the database, as
 * 1.234,56 or 4.5 €: two if they do not tell what their comma or point means, none for any other
 * column.
 */
export function writtenNumbers(name: string, values: readonly unknown[]): readonly WrittenNumbers[] {
  const texts = values.filter((value): value is string => typeof value === "string" && value.trim() !== "");
  // Without any sign they may be numbers of articles or postal codes.
  if (!texts.some((text) => /[.,€$£¥%'’()]/.test(text))) return [];
  const figures = texts.map((text) => text.replaceAll(unit, "").replace(negative, "-$1"));
  const isNegative = texts.some((text) => negative.test(text.trim()));
  const column = quoted(name, '"');
  const digits = (others: string) => `regexp_replace(${column}, '[^0-9${others}-]', '', 'g')`;
  const sign = isNegative ? `CASE WHEN trim(${column}) LIKE '(%' THEN '-' ELSE '' END || ` : "";
  const texted = { comma: `${sign}replace(${digits(",")}, ',', '.')`, point: sign + digits(".") };
  return (["comma", "point"] as const)
    .filter((way) => figures.every((figure) => forms[way].test(figure)))
    .map((way) => ({ sign: way, sql: `CAST(${texted[way]} AS DOUBLE)` }));
}
