import type { Script } from "../script.ts";
import { advantage } from "./advantage.ts";
import { primes } from "./primes.ts";
import { planSales, regionSales } from "./region-sales.ts";
import { slogan } from "./slogan.ts";
import { testDebate } from "./test-debate.ts";

/** The scripts of the flows' and the guides' examples. */
export const examples: readonly Script[] = [
  ...planSales,
  ...regionSales,
  advantage,
  ...slogan,
  ...testDebate,
  ...primes,
];
