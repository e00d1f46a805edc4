import { AppError } from "../../../core/errors.ts";
import type { ToolContext } from "../../../core/tools/tool.ts";
import type { QueryResult } from "../database/database-protocol.ts";
import type { Databases } from "../database/databases.ts";
import { quoted, tableOf } from "../database/table-of.ts";
import { thousandsIn } from "../delimited/comma-numbers.ts";
import {
  type ChartKind,
  type ChartRequest,
  type ChartRoles,
  type Plot,
  resolveRoles,
  textNumbersOf,
} from "./chart-roles.ts";
import { type ChartTable, chartTable } from "./chart-table.ts";

const maxRows = 5000;
const maxCharacters = 4 * 1024 * 1024;

/**
 * The part of a file that is drawn: only `x`, series and `y`, in this order, and what was left out.
 */
export type ReadPlot = {
  readonly plot: Plot;
  readonly kind: ChartKind;
  /** Columns that the chart doesn't show. */
  readonly unused: readonly string[];
  /** The number of rows in the file that are not drawn. */
  readonly left: number;
  /** What a reader of the file has to know of it, a sentence each. */
  readonly cautions: readonly string[];
};

type Deps = { readonly databases: Databases; readonly context: ToolContext; readonly path: string };

/**
 * Reads what a chart shows of a data file. Rejects with `invalid_input`, with a suggestion where
 * there is one.
 */
export async function readPlot(deps: Deps, request: ChartRequest): Promise<ReadPlot> {
  const { table, total, cautions: notes, doubts } = await readTable(deps);
  const resolved = resolveRoles(table, request);
  const { aggregate = resolved.roles.measures.length === 0 ? "count" : undefined } = request;
  const { along, measures, parts } = resolved.roles;
  const used = [along, parts, ...measures].filter((index) => index !== undefined);
  const unused = table.columns.filter((_, index) => !used.includes(index)).map(({ name }) => name);
  const drawn = used.map((index) => table.columns[index]?.name ?? "");
  const cautions = [...notes, ...(await doubts(drawn)), ...unreadNumbers(table, request, used)];
  if (aggregate !== undefined && along !== undefined) {
    const plot = await aggregated(deps, table, resolved.roles, aggregate);
    return { plot, kind: resolved.kind, unused, left: 0, cautions };
  }
  const columns = used.map((index) => table.columns[index]).filter((column) => column !== undefined);
  const rows = table.rows.map((row) => used.map((index) => row[index] ?? null));
  const plot = { columns, rows, roles: inPlace(resolved.roles) };
  return { plot, kind: resolved.kind, unused, left: total - rows.length, cautions };
}

/**
 * Of columns that nobody named and that might have been measured, had they been read as numbers.
 */
function unreadNumbers(table: ChartTable, request: ChartRequest, used: readonly number[]): string[] {
  if (request.y !== undefined) return [];
  const open = [...table.columns.keys()].filter(
    (index) => !used.includes(index) || ![request.x, request.series].includes(table.columns[index]?.name),
  );
  return open.flatMap((index) => textNumbersOf(table, index) ?? []);
}

/**
 * The whole file in the form that a chart takes. `doubts` says of columns that are drawn what may
 * have been misread.
 */
export async function readTable(deps: Deps): Promise<
  Pick<ReadPlot, "cautions"> & {
    readonly table: ChartTable;
    readonly total: number;
    readonly doubts: (drawn: readonly string[]) => Promise<string[]>;
  }
> {
  const { source, delimited } = await sourceOf(deps);
  const result = await query(deps, `FROM ${source} LIMIT ${maxRows + 1}`);
  if (result.total === 0) throw new AppError("invalid_input", `${deps.path} has no rows.`);
  if (result.columns.every(({ name }) => Number.isFinite(Number(name))))
    throw new AppError("invalid_input", `The first row of ${deps.path} names no columns: it holds only numbers.`);
  const table = chartTable({ columns: result.columns, rows: result.rows.slice(0, maxRows) });
  const cautions = result.notes.map((note) => `Note: ${note}`);
  const doubts = async (used: readonly string[]) => {
    const told = await thousandsIn((sql) => query(deps, sql), delimited, { columns: result.columns, used });
    return told.map((doubt) => `Note: ${doubt}`);
  };
  if (result.total <= maxRows) return { table, total: result.total, cautions, doubts };
  const [[total] = []] = (await query(deps, `SELECT count(*) FROM ${source}`)).rows;
  return { table, total: Number(total), cautions, doubts };
}

/**
 * The rows of each place combined into one value, places in the order of the file; when counting,
 * the most frequent first.
 */
async function aggregated(deps: Deps, table: ChartTable, roles: ChartRoles, aggregate: string): Promise<Plot> {
  const name = (index: number) => quoted(table.columns[index]?.name ?? "", '"');
  const places = [roles.along, roles.parts].flatMap((index) => (index === undefined ? [] : [name(index)]));
  const values =
    aggregate === "count"
      ? [`count(*) AS "count"`]
      : roles.measures.map((index) => {
          const title = table.columns[index]?.name ?? "";
          return `${aggregate}(${name(index)}) AS ${quoted(aggregate === "sum" ? title : `${aggregate} of ${title}`, '"')}`;
        });
  const order = aggregate === "count" && table.columns[roles.along ?? 0]?.kind === "name" ? "count(*) DESC, " : "";
  const source = `(SELECT *, row_number() OVER () AS "row of the file" FROM ${(await sourceOf(deps)).source})`;
  const sql = `SELECT ${[...places, ...values].join(", ")} FROM ${source} GROUP BY ${places.join(", ")} ORDER BY ${order}min("row of the file") LIMIT ${maxRows + 1}`;
  const result = await query(deps, sql);
  if (result.total > maxRows)
    throw new AppError("invalid_input", `The chart would have more than ${maxRows} places: sum the data up first.`);
  const read = chartTable(result);
  const columns = read.columns.map((column, index) =>
    index < places.length ? column : { ...column, kind: "number" as const },
  );
  return { columns, rows: read.rows, roles: inPlace({ ...roles, measures: values.map((_, index) => index) }) };
}

/** The same roles in a table that holds only these columns: x, series, y. */
function inPlace({ along, measures, parts }: ChartRoles): ChartRoles {
  const before = [along, parts].filter((index) => index !== undefined).length;
  return {
    along: along === undefined ? undefined : 0,
    parts: parts === undefined ? undefined : before - 1,
    measures: measures.map((_, index) => before + index),
  };
}

/**
 * The file as a FROM clause names it. The first row of a text file is its column names, whatever
 * its values look like.
 */
async function sourceOf({
  context,
  path,
}: Deps): Promise<{ readonly source: string; readonly delimited: string | undefined }> {
  const { table, delimited } = await tableOf(context.workspace, path);
  return { source: delimited === undefined ? table : `read_csv(${delimited}, header = true)`, delimited };
}

function query({ databases, context: { workspace, signal } }: Deps, sql: string): Promise<QueryResult> {
  return databases.query(workspace, sql, { signal, maxCharacters });
}
