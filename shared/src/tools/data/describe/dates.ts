import { counted } from "../../../core/text/counted.ts";
import { isTimeType } from "../database/column-types.ts";
import { firstWord, isText } from "./derived.ts";
import type { Oddity } from "./oddity.ts";

const maxDates = 0.5;
const maxSteps = 0.2;

function readAs(first: string, second: string): string {
  return `try_strptime(${firstWord}, ['%${first}/%${second}/%Y', '%${first}-%${second}-%Y']) IS NOT NULL`;
}

/** SQL computes every part of a conjunction for every row. */
function dated(condition: string): string {
  return `CASE WHEN dated THEN ${condition} ELSE false END`;
}

const [dayFirst, monthFirst] = [readAs("d", "m"), readAs("m", "d")];
const onlyDay = `${dayFirst} AND NOT ${monthFirst}`;
const onlyMonth = `${monthFirst} AND NOT ${dayFirst}`;

/** Texts that look like dates but are not, or not in one format. */
export const impossibleDates: Oddity = {
  looks: (column) =>
    isText(column)
      ? {
          filled: "count(c)",
          shaped: "count(*) FILTER (dated)",
          bad: "count(*) FILTER (dated AND day IS NULL)",
          badExample: "min(c) FILTER (dated AND day IS NULL)",
          dashed: "count(*) FILTER (dated AND trim(c) LIKE '____-%')",
          slashed: "count(*) FILTER (dated AND c LIKE '%/%/%')",
          dotted: "count(*) FILTER (dated AND c LIKE '%.%.%' AND c NOT LIKE '%:%')",
          otherExample: "min(c) FILTER (NOT dated)",
          unclear: `count(*) FILTER (${dated(`${dayFirst} AND ${monthFirst}`)})`,
          dayOnly: `count(*) FILTER (${dated(onlyDay)})`,
          dayOnlyExample: `min(c) FILTER (${dated(onlyDay)})`,
          monthOnly: `count(*) FILTER (${dated(onlyMonth)})`,
          monthOnlyExample: `min(c) FILTER (${dated(onlyMonth)})`,
        }
      : undefined,
  say(seen, example) {
    const [filled, shaped] = [seen("filled"), seen("shaped")];
    if (shaped === 0 || shaped < filled * maxDates) return undefined;
    const bad = seen("bad");
    const forms = ["dashed", "slashed", "dotted"].filter((form) => seen(form) > 0).length;
    const parts = [
      bad > 0 ? `${counted(bad, "date")} that cannot be, such as '${example("badExample")}'` : "",
      filled > shaped
        ? `${counted(filled - shaped, "value")} among dates that cannot be read as one, such as '${example("otherExample")}'`
        : "",
      forms > 1 ? "dates in more than one form (check which is day and which is month)" : "",
      seen("dayOnly") > 0 && seen("monthOnly") > 0
        ? `days and months in both orders: ${seen("dayOnly")} can only be day first, such as '${example("dayOnlyExample")}', ${seen("monthOnly")} only month first, such as '${example("monthOnlyExample")}'`
        : "",
    ].filter((part) => part !== "");
    const unclear = seen("unclear") === filled ? ", each of which may be day first or month first" : "";
    return parts.length === 0 ? `dates kept as text${unclear}` : parts.join("; ");
  },
};

/** Dates that go back in a file that otherwise goes forward, and dates that nobody means. */
export const strangeDates: Oddity = {
  looks: (column) =>
    isTimeType(column.type)
      ? {
          filled: "count(c)",
          back: "count(*) FILTER (c < before)",
          backExample: "min(CAST(c AS VARCHAR)) FILTER (c < before)",
          far: "count(*) FILTER (year(c) < 1900 OR year(c) > 2100)",
          farExample: "min(CAST(c AS VARCHAR)) FILTER (year(c) < 1900 OR year(c) > 2100)",
        }
      : undefined,
  say(seen, example) {
    const [back, far] = [seen("back"), seen("far")];
    const parts = [
      back > 0 && back <= seen("filled") * maxSteps
        ? `${counted(back, "row")} out of order: earlier than the row before, such as ${example("backExample")}`
        : "",
      far > 0 ? `${counted(far, "date")} before 1900 or after 2100, such as ${example("farExample")}` : "",
    ].filter((part) => part !== "");
    return parts.length === 0 ? undefined : parts.join("; ");
  },
};
