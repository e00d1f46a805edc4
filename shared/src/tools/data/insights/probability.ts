/** The share of a normal distribution at least this many deviations from its middle, either way (Abramowitz and Stegun 7.1.26). */
export function twoSided(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return series * Math.exp(-x * x);
}

/** How likely a correlation at least this strong is between `points` unrelated pairs (Fisher's transformation); 1 for too few to tell. */
export function chanceOfCorrelation(coefficient: number, points: number): number {
  if (points < 4) return 1;
  const bounded = Math.min(Math.abs(coefficient), 1 - 1e-12);
  return twoSided(Math.atanh(bounded) * Math.sqrt((points - 3) / 1.06));
}
