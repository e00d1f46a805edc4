import * as z from "zod";
import type { Course } from "./debater.ts";

/** A judge's verdict as it gives it. */
export const verdictForm = z.object({
  decision: z.string().trim().min(1).describe("The answer to the question, so that it can be understood by itself."),
  confidence: z.number().min(0).max(1).describe("How sure that is, from 0 to 1."),
  reasons: z
    .array(z.string().trim().min(1))
    .min(1)
    .describe("Why, each reason with the numbers it rests on, like [2]."),
  dissent: z
    .string()
    .trim()
    .default("")
    .describe("What speaks against it and is not answered; empty when nothing does."),
  citations: z.array(z.int()).min(1).describe("The numbers of all arguments that the decision rests on."),
});

export type Verdict = z.output<typeof verdictForm>;

/** What is wrong with a verdict: it cites arguments that nobody made. */
export function citationFault({ citations, reasons, dissent, decision }: Verdict, course: Course): string | undefined {
  const numbers = course.arguments.map(({ number }) => number);
  const inText = [decision, ...reasons, dissent].flatMap((text) =>
    [...text.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1])),
  );
  const missing = [...new Set([...citations, ...inText])].filter((number) => !numbers.includes(number));
  if (missing.length === 0) return undefined;
  return `There is no argument ${missing.join(", ")}; there are ${numbers.join(", ")}.`;
}
