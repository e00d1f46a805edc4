import { AppError } from "../../../core/errors.ts";
import { counted } from "../../../core/text/counted.ts";

/** The first and last of numbered things, both included. */
export type NumberRange = { readonly first: number; readonly last: number };

/**
 * The range that a part names (`3`, `3-7`, `12-`; all if left out) of `count` pages, slides or the
 * like. Throws `invalid_input` for anything else, and for what begins behind the last.
 */
export function numberRange(part: string | undefined, count: number, unit: string): NumberRange {
  if (part === undefined || part === "") return { first: 1, last: count };
  const found = /^(\d{1,9})(?:\s*-\s*(\d{0,9}))?$/.exec(part.trim());
  if (found === null)
    throw new AppError("invalid_input", `part is a ${unit} (3) or several (3-7, 12-), not ${JSON.stringify(part)}.`);
  const first = Number(found[1]);
  const last = found[2] === undefined ? first : found[2] === "" ? count : Math.min(count, Number(found[2]));
  if (first < 1 || first > count || last < first)
    throw new AppError("invalid_input", `There is no ${unit} ${part}: the document has ${counted(count, unit)}.`);
  return { first, last };
}
