import { parseCsv } from "hucre/csv";
import { AppError } from "../../../core/errors.ts";

/**
 * The rows of a CSV file: numbers as numbers, everything else as text, formulas too. Rejects an
 * empty one with `unsupported`.
 */
export function csvRows(text: string, path: string): (string | number | null)[][] {
  const rows = parseCsv(text, { typeInference: false });
  if (rows.length === 0) throw new AppError("unsupported", `${path} is empty.`);
  return rows.map((row) => row.map((value) => numberOr(value === null ? null : String(value))));
}

/** Digits with a leading zero are a code, not a number. */
function numberOr(text: string | null): string | number | null {
  if (text === null || text === "") return null;
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
}
