import { jStat } from "jstat";

/** The probability of a t value at least this far from 0, in either direction. */
export function tTwoSided(t: number, degrees: number): number {
  return jStat.ibeta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

/** How many standard errors to either side cover this share (0 to 1) of a t distribution. */
export function tReach(share: number, degrees: number): number {
  return jStat.studentt.inv((1 + share) / 2, degrees);
}

/** How many deviations to either side cover this share (0 to 1) of a normal distribution. */
export function normalReach(share: number): number {
  return jStat.normal.inv((1 + share) / 2, 0, 1);
}

/** The probability of an F value at least this large. */
export function fUpper(f: number, above: number, below: number): number {
  return jStat.ibeta(below / (below + above * f), below / 2, above / 2);
}

/** The probability of a chi-square value at least this large. */
export function chiSquareUpper(value: number, degrees: number): number {
  return Math.max(0, 1 - jStat.lowRegGamma(degrees / 2, value / 2));
}

/**
 * The probability of `hits` marked ones among `drawn` of `all`, of which `marked` are marked
 * (hypergeometric).
 */
export function chanceOfHits(hits: number, all: number, marked: number, drawn: number): number {
  return jStat.hypgeom.pdf(hits, all, marked, drawn);
}

/**
 * P values of several tests of one question, so that together they err no more often than one
 * (Holm 1979). In the given order.
 */
export function holm(chances: readonly number[]): number[] {
  const order = [...chances.keys()].sort((one, other) => (chances[one] ?? 0) - (chances[other] ?? 0));
  const adjusted = chances.map(() => 1);
  let least = 0;
  for (const [rank, at] of order.entries()) {
    least = Math.max(least, Math.min(1, (chances[at] ?? 1) * (chances.length - rank)));
    adjusted[at] = least;
  }
  return adjusted;
}
