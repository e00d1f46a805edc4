import { safeText } from "../../../app/format.ts";
import { words } from "../../../app/words/words.ts";
import { isFigures } from "./read-table.ts";

/** Rows shown at most. */
export const mostRows = 500;

/** Rows as a table; figures stand to the right. */
export function TableView({ head, rows }: { head: readonly string[]; rows: readonly (readonly string[])[] }) {
  const shown = rows.slice(0, mostRows);
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
      {rows.length > mostRows && <p class="t3 small">{words().run.firstRows(mostRows, rows.length)}</p>}
    </>
  );
}
