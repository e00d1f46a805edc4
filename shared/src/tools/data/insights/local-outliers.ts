import { distance, mean } from "./statistics.ts";

const outlying = 1.8;

/** The places of points in much thinner surroundings than their `k` nearest neighbours (local outlier factor above 1.8). */
export function localOutliers(points: readonly (readonly number[])[], k = 5): number[] {
  if (points.length <= k + 1) return [];
  const near = points.map((point, at) =>
    points
      .map((other, index) => ({ index, far: distance(point, other) }))
      .filter(({ index }) => index !== at)
      .sort((one, other) => one.far - other.far)
      .slice(0, k),
  );
  const reach = near.map((neighbours) => neighbours.at(-1)?.far ?? 0);
  const density = near.map(
    (neighbours) => 1 / Math.max(mean(neighbours.map(({ index, far }) => Math.max(reach[index] ?? 0, far))), 1e-12),
  );
  return [...points.keys()].filter((at) => {
    const around = mean((near[at] ?? []).map(({ index }) => density[index] ?? 0));
    return around / (density[at] ?? 1) > outlying;
  });
}
