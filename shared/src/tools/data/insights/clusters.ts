import { deviation, distance, mean, quantile, thinned } from "./statistics.ts";

/**
 * Clusters of points: their centres, the indexes of points in none, and how well they are separated
 * (mean silhouette, 0 to 1).
 */
export type Clusters = {
  readonly centres: readonly (readonly [x: number, y: number])[];
  readonly noise: readonly number[];
  readonly silhouette: number;
};

const fewest = 12;
const maxPoints = 200;
const maxClusters = 6;
const smallestShare = 0.1;
const maxNoise = 0.1;
const parted = 0.6;

/**
 * The clusters of pairs of values (DBSCAN over robust units): undefined unless there are two to
 * six, each with at least a tenth of all points, with hardly any point in none, and well separated
 * by their silhouette. With many points, two hundred evenly spread ones are used.
 */
export function clusters(xs: readonly number[], ys: readonly number[]): Clusters | undefined {
  const places = thinned(xs, maxPoints).map(({ at }) => at);
  const of = (values: readonly number[]) => places.map((at) => values[at] ?? 0);
  const points = scaled(of(xs), of(ys));
  if (points.length < fewest) return undefined;
  const labels = dbscan(points, radiusOf(points.length));
  const noise = [...labels.keys()].filter((at) => labels[at] === -1);
  const heaps = Array.from({ length: Math.max(...labels) + 1 }, (_, heap) =>
    [...labels.keys()].filter((at) => labels[at] === heap),
  );
  if (heaps.length < 2 || heaps.length > maxClusters || noise.length > points.length * maxNoise) return undefined;
  if (heaps.some((heap) => heap.length < points.length * smallestShare)) return undefined;
  const silhouette = mean(heaps.flatMap((heap) => heap.map((at) => silhouetteOf(points, at, heap, heaps))));
  if (silhouette < parted) return undefined;
  const centre = (heap: readonly number[]) =>
    [mean(heap.map((at) => of(xs)[at] ?? 0)), mean(heap.map((at) => of(ys)[at] ?? 0))] as const;
  return { centres: heaps.map(centre), noise: noise.map((at) => places[at] ?? 0), silhouette };
}

/** Both axes in robust units, so that neither outweighs the other. */
function scaled(xs: readonly number[], ys: readonly number[]): number[][] {
  const unit = (values: readonly number[]) => quantile(values, 0.75) - quantile(values, 0.25) || deviation(values) || 1;
  const [unitX, unitY] = [unit(xs), unit(ys)];
  return xs.map((x, at) => [x / unitX, (ys[at] ?? 0) / unitY]);
}

function radiusOf(points: number): number {
  return Math.min(0.5, 3 / Math.sqrt(points));
}

/** How much nearer a point is to its own cluster than to the next one. */
function silhouetteOf(
  points: readonly (readonly number[])[],
  at: number,
  own: readonly number[],
  heaps: readonly (readonly number[])[],
): number {
  const to = (heap: readonly number[]) =>
    mean(heap.filter((other) => other !== at).map((other) => distance(points[at] ?? [], points[other] ?? [])));
  const inside = to(own);
  const outside = Math.min(...heaps.filter((heap) => heap !== own).map(to));
  return (outside - inside) / Math.max(inside, outside, Number.MIN_VALUE);
}

/**
 * For each point the number of its cluster from 0, or -1 for noise. A core point has at least
 * `fewest` points, including itself, within `radius`.
 */
export function dbscan(points: readonly (readonly number[])[], radius: number, fewest = 4): number[] {
  const labels: (number | undefined)[] = points.map(() => undefined);
  const around = (at: number) =>
    [...points.keys()].filter((other) => distance(points[at] ?? [], points[other] ?? []) <= radius);
  let clusters = 0;
  for (const start of points.keys()) {
    if (labels[start] !== undefined) continue;
    const first = around(start);
    labels[start] = first.length < fewest ? -1 : clusters;
    if (first.length < fewest) continue;
    const queue = first;
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      const before = labels[at];
      if (before === undefined || before === -1) labels[at] = clusters;
      if (before !== undefined) continue;
      const more = around(at);
      if (more.length >= fewest) queue.push(...more);
    }
    clusters++;
  }
  return labels.map((label) => label ?? -1);
}
