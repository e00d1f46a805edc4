import { cellText } from "../database/result-text.ts";

/** What SUMMARIZE says of a column. */
export type Profile = Readonly<Record<string, unknown>>;

/** With fewer columns each has its line. */
const manyColumns = 40;
const shortestRun = 4;

/**
 * A line for each column; where there are many, one for those next to each other that are alike in
 * all but their numbers: `q1 … q90`. Of those behind the last line, `left` says how many there are
 * of `all`.
 */
export function profileLines(
  profiles: readonly Profile[],
  all: number,
  maxLines: number,
): { readonly lines: readonly string[]; readonly left: number } {
  const runs = (all > manyColumns ? runsOf(profiles) : profiles.map((profile) => [profile])).slice(0, maxLines);
  const told = runs.reduce((sum, run) => sum + run.length, 0);
  return { lines: runs.map(lineOf), left: all - told };
}

function runsOf(profiles: readonly Profile[]): (readonly Profile[])[] {
  const runs: Profile[][] = [];
  for (const profile of profiles) {
    const run = runs.at(-1);
    if (run?.[0] !== undefined && likeness(run[0]) === likeness(profile)) run.push(profile);
    else runs.push([profile]);
  }
  return runs.flatMap((run) => (run.length < shortestRun ? run.map((profile) => [profile]) : [run]));
}

function likeness({ column_name, column_type, null_percentage, approx_unique, min, max }: Profile): string {
  const name = String(column_name).replaceAll(/\d+/g, "#");
  return JSON.stringify([name, column_type, null_percentage, approx_unique, min, max].map(String));
}

function lineOf(run: readonly Profile[]): string {
  const [first = {}] = run;
  const last = run.at(-1) ?? first;
  const named = `${first.column_name} … ${last.column_name} (${run.length} columns)`;
  const cells = [
    run.length === 1 ? first.column_name : named,
    first.column_type,
    `${first.null_percentage} %`,
    first.approx_unique,
    first.min,
    first.max,
    meanOf(run),
  ];
  return cells.map(cellText).join(" | ");
}

/** The mean, or the least and the greatest of several. */
function meanOf(run: readonly Profile[]): unknown {
  const means = run.map(({ avg }) => avg ?? "").sort((one, other) => Number(one) - Number(other));
  const [least, greatest] = [shortNumber(means[0]), shortNumber(means.at(-1))];
  return least === greatest ? least : `${least} to ${greatest}`;
}

/** A computed number rounded to its significant digits: six, or two after the decimal point. */
function shortNumber(told: unknown): unknown {
  const value = Number(told);
  if (String(told).length <= 8 || value === 0 || !Number.isFinite(value)) return told;
  const decimals = Math.min(20, Math.max(2, 5 - Math.floor(Math.log10(Math.abs(value)))));
  return String(Number(value.toFixed(decimals)));
}
