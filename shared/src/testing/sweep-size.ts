import * as z from "zod";

/**
 * How far a sweep goes: through how many kills, starts or random cases. Left out, it is `usual`.
 */
type SweepSizes<Size> = { readonly quick?: Size; readonly usual: Size; readonly full?: Size };

const chosen = z.enum(["quick", "usual", "full"]).parse(process.env.TEST_SWEEPS ?? "quick");

/**
 * Chooses by `TEST_SWEEPS`: `quick`, what `bun run test` and CI take; `usual`, which finds what
 * happens once in dozens of times and takes minutes longer (`bun run test:sweeps`); `full`, every
 * point, which takes hours (`bun run test:crashes`).
 */
export function sweepSize<Size>(sizes: SweepSizes<Size>): Size {
  return sizes[chosen] ?? sizes.usual;
}
