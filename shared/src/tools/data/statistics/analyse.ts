import { AppError } from "../../../core/errors.ts";
import type { ToolContext } from "../../../core/tools/tool.ts";
import { csvText } from "../database/result-text.ts";
import { associationTest, contingency, evenTest } from "./chi-square.ts";
import { anova, oneSampleTest, tTest } from "./compare-means.ts";
import { kruskalWallis, mannWhitney, wilcoxon } from "./compare-ranks.ts";
import { correlations } from "./correlations.ts";
import { decomposition } from "./decomposition.ts";
import { confidenceIntervals, outliers } from "./describe-sample.ts";
import { type Predictor, regression } from "./regression.ts";
import type { StatisticsReport } from "./report.ts";
import type { StatisticsRequest } from "./request.ts";
import { groupsOf, namesOf, numbersOf, type Rows, type Sample } from "./samples.ts";

/** What was found, and the file with all of it if it is long. */
type Analysis = { readonly report: StatisticsReport; readonly file?: string };

/** Carries out a test. Rejects with `invalid_input` where the rows do not allow it. */
export async function analyse(request: StatisticsRequest, rows: Rows, context: ToolContext): Promise<Analysis> {
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

function compareMeans(request: StatisticsRequest, rows: Rows): StatisticsReport {
  const { y, against, paired, confidence } = request;
  if (request.x.length === 0 && y.length === 1)
    return oneSampleTest({ name: y[0] ?? "", values: numbersOf(rows, y[0] ?? "") }, against ?? 0, confidence);
  if (!paired) return tTest(...twoSamples(request, rows), confidence);
  const pairs = differences(y.map((name) => ({ name, values: numbersOf(rows, name) })));
  return oneSampleTest(pairs, against ?? 0, confidence, true);
}

/** The two groups of a column, or two columns. */
function twoSamples({ y, x }: StatisticsRequest, rows: Rows): [Sample, Sample] {
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

async function decomposed(request: StatisticsRequest, rows: Rows, { workspace }: ToolContext): Promise<Analysis> {
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
