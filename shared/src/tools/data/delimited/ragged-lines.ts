import { quoted } from "../database/table-of.ts";
import { type Ask, lines, type Sniffed, sniff } from "./sniff.ts";

const delimiters = [",", ";", "\t", "|"];
const looked = 1000;
const mostly = 0.8;

/**
 * What `read_csv` takes to part lines that it takes for one column, because some have a value too
 * many or too few, or a quote that is not closed; nothing if they are one column.
 */
export async function raggedLines(ask: Ask, name: string, { columns }: Sniffed): Promise<readonly string[]> {
  const [only, second] = columns;
  const sign = delimiters.find((delimiter) => only?.name.includes(delimiter));
  if (second !== undefined || sign === undefined) return [];
  const [head = "", ...others] = await lines(ask, name, looked);
  const count = head.split(sign).length;
  const alike = others.filter((line) => line.split(sign).length === count);
  if (alike.length < others.length * mostly) return [];
  // Where most values have no quotes, one is a letter; the lenient reading would drop letters.
  const isQuoted = alike.filter((line) => line.includes('"')).length > alike.length / 2;
  const quotes = isQuoted ? "strict_mode = false" : "quote = ''";
  const options = [`delim = ${quoted(sign, "'")}`, "null_padding = true", quotes];
  const parted = await sniff(ask, [name, ...options].join(", ")).catch(() => undefined);
  return (parted?.columns.length ?? 0) >= count ? options : [];
}
