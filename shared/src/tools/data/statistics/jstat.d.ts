/** The parts of jStat that are used here; the package has no types of its own. */
declare module "jstat" {
  export const jStat: {
    /** The regularised incomplete beta function. */
    ibeta(x: number, a: number, b: number): number;
    /** The regularised lower incomplete gamma function. */
    lowRegGamma(a: number, x: number): number;
    readonly studentt: { inv(p: number, degrees: number): number };
    readonly normal: { inv(p: number, mean: number, deviation: number): number };
    readonly hypgeom: { pdf(k: number, all: number, marked: number, drawn: number): number };
  };
}
