/** What a text in a cell stands for, and the number format that shows it as it was written. */
export type TypedValue = { readonly value: Date | number; readonly format: string };

/** Longer texts are words. */
const longest = 40;
const isoTime =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[T ]((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,3})?)?Z?)?$/;
const signs = String.raw`[$€£¥₹₩₺₽₫฿]|(?:EUR|USD|GBP|CHF|CNY|JPY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK)\b`;
const amount = new RegExp(
  String.raw`^([-−+]?)(?:(${signs})(\s?))?([-−+]?)(\d[\d.,'’\s]*?)(?:(\s?)(%|${signs}))?$`,
  "u",
);
const grouped = /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?$/;
const groupedElsewhere = /^(?:\d{1,3}(?:[.'’\s]\d{3})+|\d+),(\d+)$/;
/** 1,234 and 1.234 are one number in some countries and another elsewhere. */
const unclear = /^[1-9]\d{0,2}[.,]\d{3}$/;
/** Money of countries that write thousands with a comma. */
const withComma = /^(?:[$£¥₹₩]|USD|GBP|JPY|CNY|INR|AUD|CAD)$/;

/**
 * The date, time, percentage or amount that a text says: `2026-03-01`, `2026-03-01 14:30`,
 * `12.5 %`, `1,234.50 €`, `$5`, `1.234,50`. Undefined for words, for what could be two numbers
 * (`1,234 €`) and for digits alone, which may be a code.
 */
export function typedValue(text: string): TypedValue | undefined {
  return text.length > longest ? undefined : (timeIn(text) ?? amountIn(text));
}

/** Whether a text that is not read looks like a number or a date all the same. */
export function looksTyped(text: string): boolean {
  if (text.length > longest || typedValue(text) !== undefined) return false;
  if (/^\d{1,2}([./-])\d{1,2}\1\d{2,4}$|^[-−+]?\d+[.,]\d+$/.test(text)) return true;
  return amount.test(text) && !/^[-−+]?\d[\d.,'’\s]*$/.test(text);
}

/** A time that no calendar has would become another, and stays a text. */
function timeIn(text: string): TypedValue | undefined {
  const [, day, time = "", seconds = ""] = isoTime.exec(text) ?? [];
  if (day === undefined) return undefined;
  const value = new Date(`${day}T${time === "" ? "00:00" : time}${seconds}Z`);
  if (!value.toISOString().startsWith(day)) return undefined;
  return { value, format: `yyyy-mm-dd${time === "" ? "" : " hh:mm"}${seconds === "" ? "" : ":ss"}` };
}

function amountIn(text: string): TypedValue | undefined {
  const [, sign = "", before, gap = "", inner = "", digits = "", space = "", after] = amount.exec(text) ?? [];
  if (digits === "" || (sign !== "" && inner !== "") || (before !== undefined && after !== undefined)) return undefined;
  const isBare = before === undefined && after === undefined;
  const isClear = digits.includes(",") && withComma.test(before ?? after ?? "");
  if ((unclear.test(digits) && !isClear) || (isBare && !isGrouped(digits))) return undefined;
  const plain = plainDigits(digits);
  if (plain === undefined) return undefined;
  const decimals = plain.split(".")[1]?.length ?? 0;
  const fraction = decimals === 0 ? "" : `.${"0".repeat(decimals)}`;
  const number = `${sign === "" || sign === "+" ? inner.replace("+", "").replace("−", "-") : "-"}${plain}`;
  if (after === "%") return { value: Number(`${number}e-2`), format: `0${fraction}${space}%` };
  const shown = `#,##0${fraction}`;
  if (before !== undefined) return { value: Number(number), format: `"${before}${gap}"${shown}` };
  return { value: Number(number), format: after === undefined ? shown : `${shown}"${space}${after}"` };
}

/** Whether it has signs between thousands that make it a number beyond doubt. */
function isGrouped(digits: string): boolean {
  return /^\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,}|(?:\.\d{3})+,\d+)$/.test(digits);
}

function plainDigits(digits: string): string | undefined {
  if (grouped.test(digits)) return digits.replaceAll(",", "");
  if (!groupedElsewhere.test(digits)) return undefined;
  return digits.replaceAll(/[.'’\s]/g, "").replace(",", ".");
}

/** Whether a column's format shows such a value as what it is: a percentage is no amount. */
export function suits(format: string, { value, format: own }: TypedValue): boolean {
  if (value instanceof Date) return isTime(format);
  return !isTime(format) && format.includes("%") === own.includes("%");
}

function isTime(format: string): boolean {
  const bare = format.replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, "");
  return /yy|mm|dd|hh|ss|:/i.test(bare) || !/[0#?@]|General/.test(bare);
}

/**
 * A number format with its words as text: `0.00 EUR` has none that a spreadsheet program knows, and
 * one refuses the whole file for it.
 */
export function quotedFormat(format: string): string {
  const pieces = /"[^"]*"|\[[^\]]*\]|\\.|General|E[+-]|[\p{L}]+/giu;
  if (isTime(format)) return format;
  return format.replaceAll(pieces, (piece) => (/^(?!General$|E$)\p{L}+$/iu.test(piece) ? `"${piece}"` : piece));
}
