/** What a test found, in the words a reader needs; `lines` are the figures. */
export type StatisticsReport = {
  readonly title: string;
  readonly lines: readonly string[];
  /** Each assumption, whether it holds, and what to do if not. */
  readonly assumptions: readonly string[];
};

/** A number with four significant digits. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  return String(Number(value.toPrecision(4)));
}

/** A p value: never a false 0. */
export function chance(p: number): string {
  if (!Number.isFinite(p)) return "p unknown";
  return p < 0.0001 ? "p < 0.0001" : `p = ${p.toFixed(p < 0.001 ? 4 : 3)}`;
}

/** A confidence interval. */
export function interval([low, high]: readonly [number, number], confidence: number): string {
  return `${figure(confidence * 100)} % CI ${figure(low)} to ${figure(high)}`;
}

/** The report as text. */
export function reportText({ title, lines, assumptions }: StatisticsReport): string {
  return [title, ...lines, "Assumptions:", ...assumptions.map((line) => `- ${line}`)].join("\n");
}
