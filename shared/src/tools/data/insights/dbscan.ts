import { distance } from "./statistics.ts";

/** For each point the number of its cluster from 0, or -1 for noise. A core point has at least `fewest` points, itself among them, within `radius`. */
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
