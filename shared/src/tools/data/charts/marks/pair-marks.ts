import type { Finding } from "../../insights/finding.ts";
import { mean } from "../../insights/statistics.ts";
import type { Plot } from "../chart-roles.ts";
import type { ChartSpec } from "../chart-spec.ts";

/**
 * The marks of a finding in a chart of slices or of points of two measures: the share in the
 * middle, the line of a correlation, the centres of groups.
 */
export function pairMarks({ type, figures }: Finding, { encoding }: ChartSpec, table: Plot): ChartSpec[] {
  if (typeof encoding !== "object" || encoding === null) return [];
  if ("theta" in encoding && type === "majority_value")
    return label(`${Math.round(100 * (figures.share ?? 0))} %`, { values: [{}], encoding: {} }, { fontSize: 30 });
  const { along, measures } = table.roles;
  const [first, second] = measures;
  if (along !== undefined || first === undefined || second === undefined || measures.length !== 2) return [];
  if (!("x" in encoding && "y" in encoding)) return [];
  const axes = { x: encoding.x, y: encoding.y };
  const [nameX = "", nameY = ""] = [first, second].map((index) => table.columns[index]?.name);
  const point = (x: number, y: number) => ({ [nameX]: x, [nameY]: y });
  if (type === "pearson_correlation") {
    const pairs = table.rows.map(
      (row) => [Number(row[first] ?? Number.NaN), Number(row[second] ?? Number.NaN)] as const,
    );
    const values = leastSquares(pairs.filter(([x, y]) => Number.isFinite(x + y))).map(([x, y]) => point(x, y));
    return [
      { data: { values }, mark: { type: "line", color: accent, strokeDash: [6, 4], strokeWidth: 2 }, encoding: axes },
    ];
  }
  if (type !== "dbscan_clusters") return [];
  return Array.from({ length: figures.clusters ?? 0 }, (_, index) =>
    label(
      String(index + 1),
      { values: [point(figures[`x${index + 1}`] ?? 0, figures[`y${index + 1}`] ?? 0)], encoding: axes },
      { fontSize: 22 },
    ),
  ).flat();
}

/** The two ends of the least-squares line. */
function leastSquares(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const xs = pairs.map(([x]) => x);
  const [middleX, middleY] = [mean(xs), mean(pairs.map(([, y]) => y))];
  const spread = pairs.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
  const slope = pairs.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0) / spread;
  return [Math.min(...xs), Math.max(...xs)].map((x) => [x, middleY + slope * (x - middleX)] as const);
}

/** The colour of all marks that findings add to a chart. */
export const accent = "#c0392b";

/**
 * A text at a place of the chart, readable over lines and bars because its white outline is drawn
 * first.
 */
export function label(
  text: string,
  place: { readonly values: readonly unknown[]; readonly encoding: Readonly<Record<string, unknown>> },
  look: Readonly<Record<string, unknown>> = {},
): ChartSpec[] {
  const mark = { type: "text", text, fontSize: 12, fontWeight: 600, ...look };
  const outline = { stroke: "white", strokeWidth: 4, strokeJoin: "round", color: "white" };
  return [outline, { color: accent }].map((colours) => ({
    data: { values: place.values },
    mark: { ...mark, ...colours },
    encoding: place.encoding,
  }));
}
