import { flowSettings } from "manyhands/flows";
import * as z from "zod";

/** A flow option: milliseconds after which something is abandoned. */
export const deadline = z
  .int()
  .min(100)
  .max(24 * 60 * 60 * 1000);

/**
 * The fields by which a caller assigns work to an agent; several flows include them in their
 * options.
 */
export const assignment = {
  agent: z
    .string()
    .trim()
    .min(1)
    .describe("Who does it: a name, of an agent or a flow, an address, or `skill:` and words."),
  instruction: z.string().min(1).optional().describe("What it is told: a template, as the flow's guide says."),
  settings: flowSettings.optional().describe("For one that is a flow: its own `agents` and `options`."),
  deadlineMs: deadline.optional().describe("Milliseconds after which its task is given up."),
};
