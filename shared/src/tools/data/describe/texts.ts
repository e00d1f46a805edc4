import { counted } from "../../../core/text/counted.ts";
import { isText } from "./derived.ts";
import type { Oddity } from "./oddity.ts";

const isNumber = "(number AND NOT dated)";
const plain = "TRY_CAST(c AS DOUBLE)";
const blank = "' ' || chr(9) || chr(10) || chr(13) || chr(160)";
const placeholder = "lower(trim(c)) IN ('n/a', 'na', 'null', 'none', '-', '--', '?', 'unknown', 'nan', 'tbd', '#n/a')";
const mostlyNumbers = 0.8;
const someNumbers = 0.05;
/** With more that need cleaning, the range of the others says nothing. */
const fewDressed = 0.1;
/** With more distinct texts, spellings are not checked. */
const maxSpellings = 10_000;

/** Numbers among texts, or written as texts. */
export const numbersAsText: Oddity = {
  looks: (column) =>
    isText(column)
      ? {
          filled: "count(c)",
          numbers: `count(*) FILTER (${isNumber})`,
          rangeExample: `coalesce(min(${plain}) FILTER (${isNumber}) || ' to ' || max(${plain}) FILTER (${isNumber}), '')`,
          numberExample: `min(c) FILTER (${isNumber})`,
          otherExample: `min(c) FILTER (NOT ${isNumber})`,
          dressed: `count(*) FILTER (${isNumber} AND TRY_CAST(c AS DOUBLE) IS NULL)`,
          dressedExample: `min(c) FILTER (${isNumber} AND TRY_CAST(c AS DOUBLE) IS NULL)`,
        }
      : undefined,
  say(seen, example) {
    const [filled, numbers] = [seen("filled"), seen("numbers")];
    if (filled === 0 || numbers < filled * someNumbers) return undefined;
    const dressed =
      seen("dressed") > 0
        ? `; ${seen("dressed")} of the numbers need cleaning before a cast, such as '${example("dressedExample")}'`
        : "";
    const [one, other] = [example("numberExample"), example("otherExample")];
    const isRange = example("rangeExample") !== "" && seen("dressed") <= numbers * fewDressed;
    const range = !isRange ? "" : ` (${example("rangeExample").replaceAll(/\.0(?= |$)/g, "")})`;
    if (numbers === filled) return `all values are numbers kept as text${range}, such as '${one}'${dressed}`;
    if (numbers >= filled * mostlyNumbers)
      return `numbers kept as text: ${numbers} of ${filled} are numbers${range}, the rest is not, such as '${other}'${dressed}`;
    return `mixed types: ${counted(numbers, "number")} such as '${one}' among ${counted(filled - numbers, "text")} such as '${other}'`;
  },
};

/** Texts that should have been trimmed, left empty or spelled one way. */
export const untidyTexts: Oddity = {
  looks: (column) =>
    isText(column)
      ? {
          blanks: `count(*) FILTER (c <> trim(c, ${blank}))`,
          blankExample: `min(c) FILTER (c <> trim(c, ${blank}))`,
          empty: "count(*) FILTER (trim(c) = '')",
          placeholders: `count(*) FILTER (${placeholder})`,
          placeholderExample: `min(c) FILTER (${placeholder})`,
          ...(column.distinct <= maxSpellings && { spellings: "count(DISTINCT c) - count(DISTINCT lower(trim(c)))" }),
        }
      : undefined,
  say(seen, example) {
    const parts = [
      seen("blanks") > 0
        ? `${counted(seen("blanks"), "value")} with blanks before or after, such as '${example("blankExample")}'`
        : "",
      seen("empty") > 0 ? `${counted(seen("empty"), "empty text")}` : "",
      seen("placeholders") > 0
        ? `${counted(seen("placeholders"), "stand-in")} for a missing value, such as '${example("placeholderExample")}'`
        : "",
      seen("spellings") > 0
        ? `${counted(seen("spellings"), "spelling")} that only case or blanks tell from another`
        : "",
    ].filter((part) => part !== "");
    return parts.length === 0 ? undefined : parts.join("; ");
  },
};
