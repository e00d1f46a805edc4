import { useState } from "preact/hooks";
import { CutNote } from "../../../parts/cut-note.tsx";
import { countText, safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { isFigures } from "./read-table.ts";

/** Rows shown before the rest is asked for. */
const maxRows = 500;

/** Rows as a table; figures stand to the right. */
export function TableView({ head, rows }: { head: readonly string[]; rows: readonly (readonly string[])[] }) {
  const [all, setAll] = useState(false);
  const cut = !all && rows.length > maxRows;
  const shown = cut ? rows.slice(0, maxRows) : rows;
  const figures = head.map((_, column) => isFigures(shown, column));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <section class="tblw tall" tabIndex={0} aria-label={words().run.result}>
        <table class="tbl">
          <thead>
            <tr>
              {head.map((name, column) => (
                <th key={column} class={figures[column] ? "r" : ""} scope="col">
                  {safeText(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, at) => (
              <tr key={at}>
                {head.map((_, column) => (
                  <td key={column} class={figures[column] ? "r" : ""}>
                    {safeText(row[column] ?? "")}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {cut && (
        <CutNote
          said={words().run.firstRows(countText(maxRows), countText(rows.length))}
          showAll={() => setAll(true)}
        />
      )}
    </>
  );
}
