import { isText } from "./derived.ts";
import type { Oddity } from "./oddity.ts";

/**
 * Written forms of a time with an offset, of which a cast reads those with seconds and no blank.
 */
const forms = ["T%H:%M", " %H:%M", "T%H:%M:%S", " %H:%M:%S"].flatMap((time) =>
  ["%z", " %z"].map((zone) => `%Y-%m-%d${time}${zone}`),
);

const zone = "regexp_extract(trim(c), '(?:Z|[-+]\\d{2}(?::?\\d{2})?)$')";
const utc = "replace(trim(c), 'Z', '+0000')";
/** With more of a file's times in another form, an expression would lose too many. */
const mostly = 0.5;

/**
 * Times of several time zones: their days are those of none, and texts of them order by no time.
 */
export const timeOffsets: Oddity = {
  looks: (column) =>
    isText(column)
      ? {
          filled: "count(c)",
          zoned: `count(*) FILTER (zoned)`,
          zones: `count(DISTINCT ${zone}) FILTER (zoned)`,
          firstExample: `min(${zone}) FILTER (zoned)`,
          lastExample: `max(${zone}) FILTER (zoned)`,
          cast: `count(*) FILTER (CASE WHEN zoned THEN TRY_CAST(trim(c) AS TIMESTAMPTZ) IS NOT NULL ELSE false END)`,
          ...Object.fromEntries(
            forms.map((form, at) => [
              `form${at}`,
              `count(*) FILTER (CASE WHEN zoned THEN try_strptime(${utc}, '${form}') IS NOT NULL ELSE false END)`,
            ]),
          ),
        }
      : undefined,
  say(seen, example, { name }) {
    const count = seen("zoned");
    if (count === 0 || count < seen("filled") * mostly) return undefined;
    const zones =
      seen("zones") > 1
        ? `times with ${seen("zones")} offsets from UTC, such as '${example("firstExample")}' and '${example("lastExample")}'`
        : `times with the offset '${example("firstExample")}' from UTC`;
    const column = /^[a-z_]\w*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
    const read = readAs(
      column,
      seen("cast") === count,
      forms.filter((_, at) => seen(`form${at}`) > 0),
    );
    return `${zones}: a day is one of a time zone, as (${read} AT TIME ZONE 'Europe/Berlin')::DATE`;
  },
};

function readAs(column: string, isCast: boolean, fitting: readonly string[]): string {
  if (isCast || fitting.length === 0) return `${column}::TIMESTAMPTZ`;
  return `strptime(replace(${column}, 'Z', '+0000'), [${fitting.map((form) => `'${form}'`).join(", ")}])`;
}
