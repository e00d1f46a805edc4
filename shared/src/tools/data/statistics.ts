import { AppError } from "../../core/errors.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../core/tools/tool.ts";
import type { Databases } from "./database/databases.ts";
import { quoted, tableOf } from "./database/table-of.ts";
import { sayThousands } from "./delimited/comma-numbers.ts";
import { sqlEffect } from "./sql-query.ts";
import { reportText } from "./statistics/report.ts";
import { requireShape, type StatisticsRequest, statisticsRequest } from "./statistics/request.ts";
import type { Rows } from "./statistics/samples.ts";

const maxRows = 100_000;
const timeoutMs = 60_000;

const description = `Tests and estimates with p values, n, confidence intervals and effect sizes; says which assumptions hold and what to use if not.
correlation (y: two or more columns); t_test, mann_whitney (y by the two groups in x, or two columns in y); wilcoxon, or t_test with paired (two columns in y);
anova, kruskal_wallis (y by the groups in x); chi_square (two columns of categories, y and x, or y alone); regression (y on the columns in x; text becomes 0/1 columns);
confidence_interval (y, by groups in x if given; 0/1 is a share); outliers (y by a named rule; x labels rows); decomposition (y along x into trend, season, rest; saved as CSV).`;

/** The `statistics` tool. */
export function statistics({ databases }: { readonly databases: Databases }): Tool {
  return defineTool({
    name: "statistics",
    description: description.replaceAll("\n", " "),
    input: statisticsRequest,
    effect: "pure",
    async run(request, context) {
      requireShape(request);
      const rows = await readRows(databases, request, context);
      // Brings libraries that only a test needs.
      const { analyse } = await import("./statistics/analyse.ts");
      const left = rows.left === 0 ? [] : [`Rows left out because a value is missing: ${rows.left}.`];
      const { report, file } = await analyse(request, rows, context);
      const notes = (rows.notes ?? []).map((note) => `Note: ${note}`);
      return [reportText(report), ...left, ...notes, ...(file === undefined ? [] : [`All parts: ${file}`])].join("\n");
    },
  });
}

/** The model did not write the statement that the database quotes. */
function withoutStatement(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  const message = error.message.replace(/\s*LINE \d+:[\s\S]*$/, "");
  throw new AppError(error.code, `The columns of y and x could not be read. ${message}`, { cause: error });
}

/** The needed columns of the rows in which none is missing. */
async function readRows(databases: Databases, { from, y, x }: StatisticsRequest, context: ToolContext): Promise<Rows> {
  const { workspace, signal } = context;
  const wanted = [...new Set([...y, ...x])];
  const isQuery = /^\s*(?:select|with|from|pivot|unpivot)\s/i.test(from);
  if (isQuery && sqlEffect(from) !== "pure")
    throw new AppError("invalid_input", "from: only a SELECT that changes nothing; write files with sql_query first.");
  const table = isQuery ? `(${from.trim().replace(/;$/, "")})` : (await tableOf(workspace, from)).table;
  const cells = wanted.map((name) => quoted(name, '"')).join(", ");
  const bounds = { signal, timeoutMs, maxCharacters: 16 * 1024 * 1024 };
  const asked = `DESCRIBE SELECT ${cells} FROM ${table}`;
  const types = await databases.query(workspace, asked, bounds).catch(withoutStatement);
  const kinds = new Map(types.rows.map(([name, type]) => [String(name), String(type)]));
  const selected = wanted.map((name) => {
    const column = quoted(name, '"');
    // Decimals and very large integers would come as text.
    const isNumber = /^(?:DECIMAL|U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|UINTEGER|FLOAT|DOUBLE)/.test(
      kinds.get(name) ?? "",
    );
    const value = `CAST(${column} AS DOUBLE)`;
    return isNumber ? `CASE WHEN isfinite(${value}) THEN ${value} END AS ${column}` : column;
  });
  const { rows, total, notes, files } = await databases.query(
    workspace,
    `SELECT ${selected.join(", ")} FROM ${table}`,
    bounds,
  );
  if (total > maxRows || rows.length < total)
    throw new AppError(
      "too_large",
      `${total} rows, more than can be read here (${maxRows}, 16 MB). Take a sample: SELECT … USING SAMPLE 50000 ROWS; or add up in the SELECT.`,
    );
  const complete = rows.filter((row) => row.every((value) => value !== null));
  const columns = [...kinds].map(([name, type]) => ({ name, type }));
  notes.push(...sayThousands({ files, columns }).map((doubt) => `${doubt}.`));
  return { columns: wanted, rows: complete, left: total - complete.length, notes };
}
