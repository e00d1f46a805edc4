import * as z from "zod";

const step = z.object({
  id: z.string().trim().min(1).optional().describe("A short name for the step; its number when left out."),
  text: z.string().trim().min(1).describe("What is to be done, so that it can be understood without the other steps."),
  agent: z.string().trim().min(1).describe("The name of the agent that does it."),
  depends_on: z
    .array(z.union([z.string(), z.int()]))
    .default([])
    .describe("The ids of the steps whose results this one needs; none when it needs no results."),
  expected: z
    .string()
    .trim()
    .default("")
    .describe("What shows that the step is done, as it can be seen in the agent's report and files."),
  delivers: z
    .array(z.string().trim().min(1))
    .default([])
    .describe(
      "What the task asks for by name and this step hands over: files by their exact names, results in a few words.",
    ),
});

/** The steps of a plan as a model or a person writes them. */
export const draftSteps = z.array(step);

/**
 * A plan as the planner writes it: the command `create` of the planning tool, with more about each
 * step.
 */
export const planDraft = z.object({
  command: z.literal("create").default("create"),
  title: z.string().trim().min(1).describe("The plan's title."),
  steps: draftSteps.min(1).describe("The steps in order."),
});

/** What becomes of a plan that did not work out. */
export const planRevision = z.object({
  command: z.literal("update").default("update"),
  verdict: z
    .enum(["continue", "enough", "impossible"])
    .describe(
      "continue: these steps lead to the goal. enough: what is done already meets the goal. impossible: it cannot be met.",
    ),
  reason: z.string().trim().min(1).describe("Why, in one sentence."),
  steps: draftSteps.default([]).describe("The steps that are still to be done; none unless the verdict is continue."),
});

/** The steps of a plan as a model or a person wrote them, not checked against the agents. */
export type DraftSteps = z.output<typeof draftSteps>;
