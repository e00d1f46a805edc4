import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../core/tools/tool.ts";
import type { Databases } from "./database/databases.ts";
import { csvText } from "./database/result-text.ts";
import { quoted, tableOf } from "./database/table-of.ts";
import { sayThousands } from "./delimited/comma-numbers.ts";
import { sqlEffect } from "./sql-query.ts";
import { associationTest, contingency, evenTest } from "./statistics/chi-square.ts";
import { anova, oneSampleTest, tTest } from "./statistics/compare-means.ts";
import { kruskalWallis, mannWhitney, wilcoxon } from "./statistics/compare-ranks.ts";
import { correlations } from "./statistics/correlations.ts";
import { decomposition } from "./statistics/decomposition.ts";
import { confidenceIntervals, outlierRules, outliers } from "./statistics/describe-sample.ts";
import { type Predictor, regression } from "./statistics/regression.ts";
import { reportText, type StatisticsReport } from "./statistics/report.ts";
import { groupsOf, namesOf, numbersOf, type Rows, type Sample } from "./statistics/samples.ts";

const maxRows = 100_000;
const maxColumns = 12;
const timeoutMs = 60_000;

const names = z.array(z.string().min(1)).max(maxColumns);

const input = z.strictObject({
  test: z.enum([
    "correlation",
    "t_test",
    "mann_whitney",
    "wilcoxon",
    "anova",
    "kruskal_wallis",
    "chi_square",
    "regression",
    "confidence_interval",
    "outliers",
    "decomposition",
  ]),
  from: z.string().min(1).describe("A data file, or a SELECT over files as for sql_query."),
  y: names.min(1).describe("The measured columns; for chi_square the categories."),
  x: names
    .default([])
    .describe("What y is held against: the column of groups, the predictors, the time of a decomposition."),
  method: z.enum(["pearson", "spearman"]).default("pearson"),
  against: z.number().optional().describe("t_test: the mean to test one column against."),
  paired: z.boolean().default(false).describe("t_test of two columns: each row is a pair."),
  rule: z.enum(outlierRules).default("iqr"),
  period: z.int().min(2).max(10_000).optional().describe("decomposition: rows a season has, as 12 for months."),
  model: z.enum(["additive", "multiplicative"]).default("additive"),
  confidence: z.number().min(0.5).max(0.9999).default(0.95),
});
type Input = z.output<typeof input>;

const description = `Tests and estimates with p values, n, confidence intervals and effect sizes; says which assumptions hold and what to use if not.
correlation (y: two or more columns); t_test, mann_whitney (y by the two groups in x, or two columns in y); wilcoxon, or t_test with paired (two columns in y);
anova, kruskal_wallis (y by the groups in x); chi_square (two columns of categories, y and x, or y alone); regression (y on the columns in x; text becomes 0/1 columns);
confidence_interval (y, by groups in x if given; 0/1 is a share); outliers (y by a named rule; x labels rows); decomposition (y along x into trend, season, rest; saved as CSV).`;

/** The `statistics` tool. */
export function statistics({ databases }: { readonly databases: Databases }): Tool {
  return defineTool({
    name: "statistics",
    description: description.replaceAll("\n", " "),
    input,
    effect: "pure",
    async run(request, context) {
      requireShape(request);
      const rows = await readRows(databases, request, context);
      const left = rows.left === 0 ? [] : [`Rows left out because a value is missing: ${rows.left}.`];
      const { report, file } = await analyse(request, rows, context);
      const notes = (rows.notes ?? []).map((note) => `Note: ${note}`);
      return [reportText(report), ...left, ...notes, ...(file === undefined ? [] : [`All parts: ${file}`])].join("\n");
    },
  });
}

type Analysis = { readonly report: StatisticsReport; readonly file?: string };

async function analyse(request: Input, rows: Rows, context: ToolContext): Promise<Analysis> {
  const { test, confidence } = request;
  const columns = () => request.y.map((name): Sample => ({ name, values: numbersOf(rows, name) }));
  const [y = "", x = ""] = [request.y[0], request.x[0]];
  switch (test) {
    case "correlation":
      return { report: correlations(columns(), request.method, confidence) };
    case "t_test":
      return { report: compareMeans(request, rows) };
    case "mann_whitney":
      return { report: mannWhitney(...twoSamples(request, rows), confidence) };
    case "wilcoxon":
      return { report: wilcoxon(differences(columns())) };
    case "anova":
      return { report: anova(groupsOf(rows, y, x), confidence) };
    case "kruskal_wallis":
      return { report: kruskalWallis(groupsOf(rows, y, x)) };
    case "chi_square":
      if (x === "") return { report: evenTest(y, namesOf(rows, y)) };
      return { report: associationTest([y, x], contingency(namesOf(rows, y), namesOf(rows, x))) };
    case "regression":
      return {
        report: regression(
          { name: y, values: numbersOf(rows, y) },
          request.x.flatMap((name) => predictorsOf(rows, name)),
          confidence,
        ),
      };
    case "confidence_interval":
      return { report: confidenceIntervals(x === "" ? columns() : groupsOf(rows, y, x), confidence) };
    case "outliers":
      return { report: outliers({ name: y, values: numbersOf(rows, y) }, request.rule, labelsOf(rows, request.x)) };
    case "decomposition":
      return decomposed(request, rows, context);
  }
}

function compareMeans(request: Input, rows: Rows): StatisticsReport {
  const { y, against, paired, confidence } = request;
  if (request.x.length === 0 && y.length === 1)
    return oneSampleTest({ name: y[0] ?? "", values: numbersOf(rows, y[0] ?? "") }, against ?? 0, confidence);
  if (!paired) return tTest(...twoSamples(request, rows), confidence);
  const pairs = differences(y.map((name) => ({ name, values: numbersOf(rows, name) })));
  return oneSampleTest(pairs, against ?? 0, confidence, true);
}

/** The two groups of a column, or two columns. */
function twoSamples({ y, x }: Input, rows: Rows): [Sample, Sample] {
  const samples =
    x[0] === undefined
      ? y.map((name): Sample => ({ name, values: numbersOf(rows, name) }))
      : groupsOf(rows, y[0] ?? "", x[0]);
  const [one, other, ...more] = samples;
  if (one !== undefined && other !== undefined && more.length === 0) return [one, other];
  throw new AppError(
    "invalid_input",
    `${x[0]} has ${samples.length} groups (${samples
      .slice(0, 8)
      .map(({ name }) => name)
      .join(", ")}); two are compared. Choose them in a SELECT, or use anova or kruskal_wallis.`,
  );
}

function differences([one, other]: readonly Sample[]): Sample {
  // Without the rounding, 0.3 − 0.2 and 0.2 − 0.1 would not be equal.
  const values = (one?.values ?? []).map((value, at) =>
    Number((value - (other?.values[at] ?? Number.NaN)).toPrecision(12)),
  );
  return { name: `${one?.name} − ${other?.name}`, values };
}

const maxLevels = 20;

/**
 * A column of numbers as it is; a column of names as one column of 0 and 1 for each but the first.
 */
function predictorsOf(rows: Rows, name: string): Predictor[] {
  const at = rows.columns.indexOf(name);
  if (rows.rows.every((row) => typeof row[at] === "number" || typeof row[at] === "boolean"))
    return [{ name, values: numbersOf(rows, name) }];
  const values = namesOf(rows, name);
  const levels = [...new Set(values)].toSorted();
  if (levels.length > maxLevels)
    throw new AppError(
      "invalid_input",
      `${name} has ${levels.length} different texts, more than ${maxLevels}; group them in a SELECT.`,
    );
  return levels.slice(1).map((level) => ({
    name: `${name} = ${level} (not ${levels[0]})`,
    values: values.map((value) => (value === level ? 1 : 0)),
  }));
}

function labelsOf({ columns, rows }: Rows, labels: readonly string[]): string[] {
  return rows.map((row, at) =>
    labels.length === 0
      ? `row ${at + 1}`
      : labels.map((name) => `${name} ${JSON.stringify(row[columns.indexOf(name)])}`).join(", "),
  );
}

async function decomposed(request: Input, rows: Rows, { workspace }: ToolContext): Promise<Analysis> {
  const [y = "", x = ""] = [request.y[0], request.x[0]];
  const at = rows.columns.indexOf(x);
  const isNumeric = rows.rows.every((row) => typeof row[at] === "number");
  const ordered = rows.rows.toSorted((one, other) =>
    isNumeric ? Number(one[at]) - Number(other[at]) : String(one[at]) < String(other[at]) ? -1 : 1,
  );
  const sorted = { ...rows, rows: ordered };
  const [values, times] = [numbersOf(sorted, y), namesOf(sorted, x)];
  const twice = times.find((time, index) => time === times[index - 1]);
  if (twice !== undefined)
    throw new AppError(
      "invalid_input",
      `${x} is ${twice} in several rows; a series has one value at a time: add them up in a SELECT.`,
    );
  if (request.period === undefined)
    throw new AppError("invalid_input", "Name the period: how many rows a season has, as 12 for months or 7 for days.");
  const { parts, ...report } = decomposition({ name: y, values }, times, {
    period: request.period,
    model: request.model,
  });
  const cell = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : value);
  const { period } = request;
  const file = await workspace.spill(
    "decomposition.csv",
    csvText({
      columns: [x, y, "trend", "season", "rest"].map((name) => ({ name, type: "" })),
      rows: values.map((value, row) => [
        times[row] ?? "",
        value,
        cell(parts.trend[row]),
        cell(parts.season[row % period]),
        cell(parts.rest[row]),
      ]),
    }),
  );
  const uneven = unevenSteps(times);
  return { report: { ...report, lines: [...report.lines, ...(uneven === undefined ? [] : [uneven])] }, file };
}

/** Whether rows are missing, seen by the distances of their times; undefined if not, or unknown. */
function unevenSteps(times: readonly string[]): string | undefined {
  const instants = times.map((time) => (/^\d+(?:\.\d+)?$/.test(time) ? Number(time) : Date.parse(time)));
  if (instants.some(Number.isNaN)) return undefined;
  const steps = instants.slice(1).map((instant, at) => instant - (instants[at] ?? 0));
  const least = Math.min(...steps);
  // Months and years differ by a few days.
  const gaps = steps.flatMap((step, at) => (step > 1.5 * least ? [times[at + 1]] : []));
  return gaps.length === 0 ? undefined : `uneven times: rows seem to be missing before ${gaps.slice(0, 5).join(", ")}`;
}

const shapes: Record<Input["test"], (y: number, x: number) => string | undefined> = {
  correlation: (y, x) => (y < 2 || x > 0 ? "takes two or more columns in y and none in x" : undefined),
  t_test: (y, x) => (y + x > 2 || x > 1 ? "takes one column in y and one in x, or two in y" : undefined),
  mann_whitney: (y, x) => (y + x !== 2 ? "takes one column in y and one in x, or two in y" : undefined),
  wilcoxon: (y, x) => (y !== 2 || x > 0 ? "takes two columns in y: each row is a pair" : undefined),
  anova: (y, x) => (y !== 1 || x !== 1 ? "takes one column in y and one in x" : undefined),
  kruskal_wallis: (y, x) => (y !== 1 || x !== 1 ? "takes one column in y and one in x" : undefined),
  chi_square: (y, x) => (y !== 1 || x > 1 ? "takes one column in y and one, or none, in x" : undefined),
  regression: (y, x) => (y !== 1 || x < 1 ? "takes one column in y and the predictors in x" : undefined),
  confidence_interval: (y, x) =>
    x > 1 || (x === 1 && y > 1) ? "takes columns in y, or one in y and one in x" : undefined,
  outliers: (y) => (y !== 1 ? "takes one column in y; columns in x label the rows" : undefined),
  decomposition: (y, x) => (y !== 1 || x !== 1 ? "takes one column in y and its time in x" : undefined),
};

function requireShape({ test, y, x, paired }: Input): void {
  const problem = shapes[test](y.length, x.length);
  if (problem !== undefined) throw new AppError("invalid_input", `${test} ${problem}.`);
  if (paired && (test !== "t_test" || y.length !== 2))
    throw new AppError("invalid_input", "paired goes with a t_test of two columns in y.");
}

/** The model did not write the statement that the database quotes. */
function withoutStatement(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  const message = error.message.replace(/\s*LINE \d+:[\s\S]*$/, "");
  throw new AppError(error.code, `The columns of y and x could not be read. ${message}`, { cause: error });
}

/** The needed columns of the rows in which none is missing. */
async function readRows(databases: Databases, { from, y, x }: Input, context: ToolContext): Promise<Rows> {
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
