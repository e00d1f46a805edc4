import { counted } from "../../../../core/text/counted.ts";
import type { ZipContent } from "../zip-content.ts";

const counts: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/\/charts\/chart(?:Ex)?\d*\.xml$/i, "chart"],
  [/^xl\/media\/[^/]+$/i, "picture"],
  [/\/pivotTables\/pivotTable\d*\.xml$/i, "pivot table"],
];

const marks: readonly (readonly [mark: string, what: string])[] = [
  ["<conditionalFormatting", "conditional formats"],
  ["<dataValidation ", "rules for what may be entered"],
];

const largestSheet = 4 * 2 ** 20;

/**
 * What an Excel workbook holds besides cells, so that whoever writes it anew knows what that loses;
 * empty if nothing.
 */
export async function unshownNote(zip: ZipContent): Promise<string> {
  const held = counts.flatMap(([pattern, what]) => {
    const count = zip.entries.filter(({ path }) => pattern.test(path)).length;
    return count === 0 ? [] : [counted(count, what)];
  });
  const found = new Set<string>();
  for (const { path, size } of zip.entries) {
    if (!/^xl\/worksheets\/[^/]+\.xml$/i.test(path) || size > largestSheet) continue;
    const text = (await zip.text(path)) ?? "";
    for (const [mark, what] of marks) if (text.includes(mark)) found.add(what);
  }
  const all = [...held, ...found];
  if (all.length === 0) return "";
  return `, beside its cells ${all.join(", ")}: not shown, and lost where the file is written anew instead of changed`;
}
