import { quoted } from "../database/table-of.ts";
import { columnNames } from "../foreign/foreign-table.ts";
import { type Ask, type Sniffed, sniff } from "./sniff.ts";

/** What stands for a missing value in a row of data. */
const placeholder = /^(?:n\/?a|null|none|nan|tbd|unknown|[-–—.?*#/ ]*)$/i;

/** A second line of names, as of units, and what `read_csv` takes to have both as names. */
export type TwoLineHeading = { readonly options: readonly string[]; readonly names: readonly string[] };

/**
 * Whether the line below the names belongs to them: texts in columns that are texts for it alone.
 * `lines` stand above the names. A name that spans columns is each one's.
 */
export async function twoLineHeading(
  ask: Ask,
  name: string,
  { lines, found }: { readonly lines: number; readonly found: Sniffed },
): Promise<TwoLineHeading | undefined> {
  if (found.columns.some(({ type }) => type !== "VARCHAR")) return undefined;
  const rows = await ask(
    `FROM read_csv(${name}, skip = ${lines}, header = false, all_varchar = true, delim = ${quoted(found.delimiter, "'")}) LIMIT 2`,
  );
  const [first = [], second = []] = rows.map((row) => Object.values(row).map((cell) => String(cell ?? "").trim()));
  if (first.length !== found.columns.length || second.length !== first.length) return undefined;
  const options = [`skip = ${lines + 1}`, "header = true"];
  const below = await sniff(ask, [name, ...options].join(", ")).catch(() => undefined);
  if (below?.columns.length !== first.length) return undefined;
  const gained = second.filter((_, at) => below.columns[at]?.type !== "VARCHAR");
  if (gained.length < 2 || gained.some((cell) => placeholder.test(cell))) return undefined;
  let group = "";
  const spans = first.some((cell) => cell === "");
  const names = columnNames(
    first.map((cell, at) => {
      group = spans && cell === "" ? group : cell;
      return [second[at] === "" ? cell : group, second[at]].filter((text) => text !== "").join(" ");
    }),
  );
  return { options: [...options, `names = [${names.map((text) => quoted(text, "'")).join(", ")}]`], names };
}
