import { AppError } from "../../../core/errors.ts";
import type { Json } from "../../../core/json.ts";
import { counted } from "../../../core/text/counted.ts";
import { writtenNumbers } from "../database/written-numbers.ts";
import { mean } from "../insights/statistics.ts";

/** Values of one column under its name. */
export type Sample = { readonly name: string; readonly values: readonly number[] };

/** The rows of a table in which no needed column is empty. */
export type Rows = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Json[])[];
  /** How many were left out because a value was missing. */
  readonly left: number;
  /** What a reader of the files has to know of them, a sentence each. */
  readonly notes?: readonly string[];
};

/** The spread of a sample of a larger whole (n − 1). */
export function sampleVariance(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
}

/** A column as numbers. Throws `invalid_input` for one that holds something else. */
export function numbersOf({ columns, rows }: Rows, name: string): number[] {
  const at = columns.indexOf(name);
  return rows.map((row) => {
    const value = row[at];
    const number = typeof value === "boolean" ? Number(value) : value;
    if (typeof number === "number" && Number.isFinite(number)) return number;
    const column = rows.map((other) => other[at]);
    const ways = writtenNumbers(name, column).map(({ sign, sql }) => `${sql}, with the ${sign} before decimals`);
    const sql = ways.length === 0 ? `TRY_CAST(${JSON.stringify(name)} AS DOUBLE)` : ways.join("; or ");
    throw new AppError(
      "invalid_input",
      `${name} holds ${JSON.stringify(value)}, which is not a number. Convert it in a SELECT: ${sql}.`,
    );
  });
}

/** A column as names of groups or categories. */
export function namesOf({ columns, rows }: Rows, name: string): string[] {
  const at = columns.indexOf(name);
  return rows.map((row) => (typeof row[at] === "string" ? row[at] : JSON.stringify(row[at])));
}

const maxGroups = 50;

/**
 * A measured column parted by a column of groups, in the order of their names. Throws
 * `invalid_input` for fewer than two groups, more than 50, or one with fewer than two values.
 */
export function groupsOf(rows: Rows, measured: string, by: string): Sample[] {
  const [values, names] = [numbersOf(rows, measured), namesOf(rows, by)];
  const groups = new Map<string, number[]>();
  for (const [at, name] of names.entries()) {
    const group = groups.get(name) ?? [];
    group.push(values[at] ?? Number.NaN);
    groups.set(name, group);
  }
  if (groups.size < 2 || groups.size > maxGroups)
    throw new AppError(
      "invalid_input",
      `${by} has ${counted(groups.size, "different value")}; 2 to ${maxGroups} groups are needed.`,
    );
  const samples = [...groups].map(([name, own]) => ({ name, values: own }));
  return requireEach(samples.toSorted((one, other) => one.name.localeCompare(other.name, "en", { numeric: true })));
}

/** Throws `invalid_input` if a sample has fewer than two values. */
export function requireEach<Samples extends readonly Sample[]>(samples: Samples): Samples {
  const small = samples.find(({ values }) => values.length < 2);
  if (small === undefined) return samples;
  throw new AppError(
    "invalid_input",
    `${small.name} has ${counted(small.values.length, "value")}; at least 2 are needed.`,
  );
}
