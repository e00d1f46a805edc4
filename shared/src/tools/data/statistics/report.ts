/** What a test found, in the words a reader needs; `lines` are the figures. */
export type StatisticsReport = {
  readonly title: string;
  readonly lines: readonly string[];
  /** Each assumption, whether it holds, and what to do if not. */
  readonly assumptions: readonly string[];
};

/** A number with six significant digits: enough to be rounded as somebody asks. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  return String(Number(value.toPrecision(6)));
}

/** A p value: never a false 0. */
export function chance(p: number): string {
  if (!Number.isFinite(p)) return "p unknown";
  if (p < 1e-300) return "p < 1e-300";
  return `p = ${p < 0.0001 ? p.toExponential(1) : p.toFixed(4)}`;
}

/** A confidence interval. */
export function interval([low, high]: readonly [number, number], confidence: number): string {
  return `${figure(confidence * 100)} % CI ${figure(low)} to ${figure(high)}`;
}

/** The report as text. */
export function reportText({ title, lines, assumptions }: StatisticsReport): string {
  return [title, ...lines, "Assumptions:", ...assumptions.map((line) => `- ${line}`)].join("\n");
}
