import { nameForm, nameWords } from "manyhands/internal/core/spec";
import * as z from "zod";
import type { Firing } from "./start-book.ts";

/** The name of a schedule, in addresses and commands. */
export const startName = z.string().regex(nameForm, `It must be ${nameWords}.`);

/** What a schedule or trigger starts. */
export const startShape = {
  start: z.string().min(1).max(200).describe("The flow or agent."),
  task: z.string().min(1).max(20_000),
  agents: z.array(z.string().min(1).max(2_048)).min(1).max(50).exactOptional(),
  options: z.record(z.string(), z.json()).exactOptional().describe("See the flow's own schema."),
  budget: z
    .strictObject({
      steps: z.int().min(1).exactOptional(),
      tokens: z.int().min(1).exactOptional(),
      usd: z.number().min(0).exactOptional(),
    })
    .exactOptional()
    .describe("The limits of each run."),
};

const time = z.iso.datetime();

/** What became of a time of a schedule, or of a webhook. */
export const firingSchema = z
  .object({
    due: time,
    at: time,
    outcome: z
      .enum(["started", "made-up", "by-hand", "missed", "skipped", "refused"])
      .describe("`made-up`: started late; `missed`, `skipped` and `refused` started nothing."),
    missed: z.int().exactOptional().describe("Earlier times that were missed; 100 means that or more."),
    runId: z.string().exactOptional(),
    reason: z.string().exactOptional(),
    delivery: z.string().exactOptional().describe("What the sender calls the delivery."),
    event: z.string().exactOptional(),
  })
  .meta({ id: "Firing" });

/** The same as it is sent. */
export function firingView({ due, at, ...firing }: Firing) {
  return { ...firing, due: new Date(due).toISOString(), at: new Date(at).toISOString() };
}
