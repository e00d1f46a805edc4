import { inverse, Matrix } from "ml-matrix";
import { AppError } from "../../../core/errors.ts";
import { mean } from "../insights/statistics.ts";
import { chiSquareUpper, fUpper, tReach, tTwoSided } from "./distributions.ts";
import { normality } from "./normality.ts";
import { chance, figure, interval, type StatisticsReport } from "./report.ts";

/** A column that explains, as numbers. */
export type Predictor = { readonly name: string; readonly values: readonly number[] };

/** A coefficient and what is known of it; `robust` is its p value whatever the spread (HC3). */
export type Coefficient = {
  readonly name: string;
  readonly value: number;
  readonly error: number;
  readonly t: number;
  readonly p: number;
  readonly robust: number;
  readonly range: readonly [number, number];
  /** How much its variance grows because the others say the same; none of the intercept. */
  readonly inflation: number | undefined;
};

/** A fitted linear model. */
export type Fit = {
  readonly n: number;
  readonly degrees: number;
  readonly coefficients: readonly Coefficient[];
  readonly rSquared: number;
  readonly adjusted: number;
  readonly f: number;
  readonly p: number;
  readonly spread: number;
  readonly residuals: readonly number[];
  /** Cook's distance of each row. */
  readonly influence: readonly number[];
};

/** Least squares. Throws `invalid_input` with too few rows or columns that say the same. */
function fit(measured: readonly number[], predictors: readonly Predictor[], confidence: number): Fit {
  const n = measured.length;
  const k = predictors.length + 1;
  const degrees = n - k;
  if (degrees < 1)
    throw new AppError("invalid_input", `${n} complete rows cannot tell ${k} coefficients; add rows or drop columns.`);
  const design = new Matrix(measured.map((_, at) => [1, ...predictors.map(({ values }) => values[at] ?? Number.NaN)]));
  const turned = design.transpose();
  const spreadOf = inverted(turned.mmul(design), predictors);
  const values = spreadOf.mmul(turned.mmul(Matrix.columnVector([...measured]))).to1DArray();
  const fitted = design.mmul(Matrix.columnVector(values)).to1DArray();
  const residuals = measured.map((value, at) => value - (fitted[at] ?? 0));
  const squares = residuals.reduce((sum, value) => sum + value ** 2, 0);
  const middle = mean(measured);
  const total = measured.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  if (!(total > 0))
    throw new AppError("invalid_input", "The measured column does not vary; there is nothing to explain.");
  const variance = squares / degrees;
  const leverage = measured.map((_, at) => {
    const row = design.getRowVector(at);
    return row.mmul(spreadOf).dot(row);
  });
  const robust = robustErrors(design, spreadOf, residuals, leverage);
  const f = (total - squares) / (k - 1) / variance;
  const reach = tReach(confidence, degrees);
  const rSquared = 1 - squares / total;
  return {
    n,
    degrees,
    rSquared,
    adjusted: 1 - ((1 - rSquared) * (n - 1)) / degrees,
    f,
    p: fUpper(f, k - 1, degrees),
    spread: Math.sqrt(variance),
    residuals,
    influence: residuals.map((value, at) => {
      const pull = leverage[at] ?? 0;
      return (value ** 2 / (k * variance)) * (pull / (1 - pull) ** 2);
    }),
    coefficients: values.map((value, at) => {
      const error = Math.sqrt(variance * spreadOf.get(at, at));
      const own = predictors[at - 1];
      return {
        name: own?.name ?? "intercept",
        value,
        error,
        t: value / error,
        p: tTwoSided(value / error, degrees),
        robust: tTwoSided(value / (robust[at] ?? Number.NaN), degrees),
        range: [value - reach * error, value + reach * error],
        inflation: own && spreadOf.get(at, at) * squaresOf(own.values),
      };
    }),
  };
}

function inverted(square: Matrix, predictors: readonly Predictor[]): Matrix {
  const constant = predictors.find(({ values }) => new Set(values).size < 2);
  if (constant) throw new AppError("invalid_input", `${constant.name} does not vary; leave it out.`);
  // Scaled to ones in the diagonal, so that large and small columns are told apart from equal ones.
  const scale = square.diagonal().map((value) => 1 / Math.sqrt(value));
  const scaled = Matrix.zeros(square.rows, square.rows);
  for (let row = 0; row < square.rows; row++)
    for (let column = 0; column < square.rows; column++)
      scaled.set(row, column, square.get(row, column) * (scale[row] ?? 0) * (scale[column] ?? 0));
  const solved = invertible(scaled);
  if (solved === undefined)
    throw new AppError(
      "invalid_input",
      "Some of the columns say exactly the same (one is the sum of others, for example); leave one out.",
    );
  for (let row = 0; row < square.rows; row++)
    for (let column = 0; column < square.rows; column++)
      solved.set(row, column, solved.get(row, column) * (scale[row] ?? 0) * (scale[column] ?? 0));
  return solved;
}

/** Beyond this the inverse is made of rounding errors. */
const maxInflated = 1e10;

function invertible(scaled: Matrix): Matrix | undefined {
  try {
    const solved = inverse(scaled);
    const isSound = solved.diagonal().every((value) => value > 0 && value < maxInflated);
    return isSound ? solved : undefined;
  } catch {
    return undefined;
  }
}

function robustErrors(
  design: Matrix,
  spreadOf: Matrix,
  residuals: readonly number[],
  leverage: readonly number[],
): number[] {
  const weighted = design.clone();
  for (const [at, residual] of residuals.entries()) weighted.mulRow(at, (residual / (1 - (leverage[at] ?? 0))) ** 2);
  return spreadOf.mmul(design.transpose().mmul(weighted)).mmul(spreadOf).diagonal().map(Math.sqrt);
}

function squaresOf(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
}

/** How the residuals follow each other: 2 if they do not, near 0 if each resembles the last. */
function durbinWatson(residuals: readonly number[]): number {
  const steps = residuals.slice(1).reduce((sum, value, at) => sum + (value - (residuals[at] ?? 0)) ** 2, 0);
  return steps / residuals.reduce((sum, value) => sum + value ** 2, 0);
}

/**
 * Whether the spread of the residuals depends on the predictors (Breusch-Pagan, Koenker's form).
 */
function breuschPagan({ residuals, n }: Fit, predictors: readonly Predictor[]) {
  const { rSquared } = fit(
    residuals.map((value) => value ** 2),
    predictors,
    0.95,
  );
  return { value: n * rSquared, p: chiSquareUpper(n * rSquared, predictors.length) };
}

/** A linear regression with its diagnostics. */
export function regression(
  measured: { readonly name: string; readonly values: readonly number[] },
  predictors: readonly Predictor[],
  confidence: number,
): StatisticsReport {
  const model = fit(measured.values, predictors, confidence);
  if (!(model.spread > 1e-12 * Math.abs(mean(measured.values))))
    throw new AppError(
      "invalid_input",
      `The columns determine ${measured.name} exactly; there is nothing to estimate.`,
    );
  return {
    title: `Linear regression of ${measured.name} on ${predictors.map(({ name }) => name).join(", ")}, n = ${model.n}`,
    lines: [
      `R² = ${figure(model.rSquared)}, adjusted ${figure(model.adjusted)}; F(${predictors.length}, ${model.degrees}) = ${figure(model.f)}, ${chance(model.p)}; residual standard deviation ${figure(model.spread)}`,
      ...model.coefficients.map(
        ({ name, value, error, t, p, robust, range, inflation }) =>
          `  ${name}: ${figure(value)}, standard error ${figure(error)}, ${interval(range, confidence)}, t = ${figure(t)}, ${chance(p)}, robust ${chance(robust)}${inflation === undefined || predictors.length < 2 ? "" : `, VIF ${figure(inflation)}`}`,
      ),
    ],
    assumptions: diagnostics(model, predictors),
  };
}

function diagnostics(model: Fit, predictors: readonly Predictor[]): string[] {
  const even = breuschPagan(model, predictors);
  const shape = normality(model.residuals);
  const watson = durbinWatson(model.residuals);
  const inflated = model.coefficients.filter(({ inflation }) => (inflation ?? 0) > 5).map(({ name }) => name);
  const heavy = model.influence.flatMap((value, at) => (value > 1 ? [at + 1] : []));
  const few = model.n < 10 * predictors.length;
  return [
    even.p < 0.05
      ? `equal spread of the residuals: does not hold (Breusch-Pagan ${chance(even.p)}): go by the robust p.`
      : `equal spread of the residuals: holds (Breusch-Pagan ${chance(even.p)}).`,
    shape === undefined
      ? "normal residuals: too few rows to tell."
      : shape.p < 0.05
        ? `normal residuals: does not hold (${chance(shape.p)}, skewness ${figure(shape.skew)})${model.n < 100 ? ": intervals are rough; a logarithm of the measured column may help" : "; with so many rows it matters little"}.`
        : `normal residuals: holds (${chance(shape.p)}).`,
    watson < 1.5 || watson > 2.5
      ? `independent residuals: neighbouring rows resemble each other (Durbin-Watson ${figure(watson)}): if the rows are in order of time, p values are too small.`
      : `independent residuals: no trace between neighbouring rows (Durbin-Watson ${figure(watson)}).`,
    ...(predictors.length < 2
      ? []
      : [
          inflated.length > 0
            ? `predictors that differ: ${inflated.join(", ")} largely repeat the others (VIF above 5): their coefficients are uncertain.`
            : "predictors that differ: holds (VIF up to 5).",
        ]),
    heavy.length > 0
      ? `no row decides alone: does not hold for row ${heavy.slice(0, 5).join(", ")} of those read (Cook's distance above 1): compare without.`
      : "no row decides alone: holds (Cook's distance up to 1).",
    ...(few
      ? [`enough rows: fewer than ten a predictor (${model.n} for ${predictors.length}): expect R² to be too high.`]
      : []),
    "a straight line: not tested; draw a scatter chart of each predictor.",
  ];
}
