import * as z from "zod";

/** What a check says of an answer. */
export type Verdict = {
  readonly passed: boolean;
  /** What shows that it passed, or what is missing. */
  readonly feedback: string;
  /** How much of what is wanted is there, from 0 to 1, where the check tells. */
  readonly score?: number;
};

/** A verdict as a model or an agent gives it. */
export const verdictForm = z.object({
  passed: z.boolean().describe("Whether everything that is wanted is there."),
  feedback: z
    .string()
    .trim()
    .min(1)
    .describe("Passed: what shows it, quoted. Not passed: what is missing or wrong, so that it can be mended."),
  score: z.number().min(0).max(1).describe("How much of what is wanted is there, from 0 to 1."),
});
