import * as z from "zod";
import { AppError } from "../../../core/errors.ts";

/** The named rules for values that are out of the ordinary. */
export const outlierRules = ["iqr", "mad", "zscore"] as const;
/** One of the rules. */
export type OutlierRule = (typeof outlierRules)[number];

const maxColumns = 12;

const names = z.array(z.string().min(1)).max(maxColumns);

/** What the `statistics` tool is asked. */
export const statisticsRequest = z.strictObject({
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
/** A request to it. */
export type StatisticsRequest = z.output<typeof statisticsRequest>;

const shapes: Record<StatisticsRequest["test"], (y: number, x: number) => string | undefined> = {
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

/** Throws `invalid_input` if the columns of y and x are not what the test takes. */
export function requireShape({ test, y, x, paired }: StatisticsRequest): void {
  const problem = shapes[test](y.length, x.length);
  if (problem !== undefined) throw new AppError("invalid_input", `${test} ${problem}.`);
  if (paired && (test !== "t_test" || y.length !== 2))
    throw new AppError("invalid_input", "paired goes with a t_test of two columns in y.");
}
