import { AppError } from "manyhands";
import { defineFlow, type Flow, type FlowResult } from "manyhands/flows";
import * as z from "zod";
import { wholeGoal } from "../prompt-text.ts";
import { approvePlan } from "./approve-plan.ts";
import { createBoard } from "./board.ts";
import { carryOut } from "./carry-out.ts";
import { carryOutFirst } from "./first-body.ts";
import { lookAtFiles, makePlan } from "./make-plan.ts";

const options = z.strictObject({
  approve: z.boolean().default(false).describe("Whether a person approves or edits the plan before it is begun."),
  concurrency: z.int().min(1).max(20).default(4).describe("Steps that are worked on at the same time."),
  attempts: z.int().min(1).max(5).default(2).describe("How often a step is tried."),
  replans: z
    .int()
    .min(0)
    .max(5)
    .default(2)
    .describe("How often the rest is planned anew after a step that did not work."),
  maxSteps: z.int().min(1).max(50).default(20).describe("Steps that a plan may have."),
  stepDeadlineMs: z.int().min(1000).optional().describe("Milliseconds after which a step's task is given up."),
});

type Options = z.output<typeof options>;

/** Plans a task, gives the steps to suitable agents, checks their results and combines them. */
export const planning = defineFlow({
  name: "planning",
  title: "Planning flow",
  description:
    "Makes a plan for a task, has agents carry out its steps, checks each, and writes the answer from what they found.",
  version: "1.1.0",
  body: 3,
  skills: [
    {
      id: "plan-and-do",
      name: "Plan and carry out",
      description: "Divides a task among agents, in parallel where it can be, and plans anew what does not work out.",
      tags: ["flow", "planning", "team"],
      examples: ["Analyse orders.csv, draw a chart of it, and write a report with both."],
    },
  ],
  options,
  example: {
    text: "Find out from orders.csv which region sold most, and write a short report about it.",
    agents: ["data-analysis", "manus"],
    files: [{ name: "orders.csv", text: "region,revenue\nnorth,120\nsouth,80\nnorth,30\n" }],
  },
  perform: planned(carryOut, lookAtFiles),
  former: [
    { body: 2, perform: planned(carryOut) },
    { body: 1, perform: planned(carryOutFirst) },
  ],
});

/**
 * Makes the plan, has it approved if that is wanted, and carries it out. With `look`, the plan is
 * made knowing how the files begin; bodies before the third knew only their names.
 */
function planned(carry: typeof carryOut, look?: typeof lookAtFiles) {
  return async (flow: Flow, options: Options): Promise<FlowResult> => {
    const files = look && { files: await look(flow) };
    const brief = { goal: wholeGoal(flow), agents: distinct(flow), maxSteps: options.maxSteps, ...files };
    const board = createBoard();
    const made = await makePlan(flow, brief);
    const unasked = { plan: made, goal: brief.goal };
    const { plan, goal } = options.approve ? await approvePlan(flow, made, brief) : unasked;
    if (plan.steps.length === 0) throw new AppError("rejected", "The plan has no steps.");
    board.post(flow, plan, `The plan: ${plan.title}`);
    return carry(flow, plan, { ...brief, goal }, board, options);
  };
}

/** The agents without duplicates, for the plan to name. */
function distinct({ agents }: Flow): Flow["agents"] {
  return agents.filter(({ name }, index) => agents.findIndex((other) => other.name === name) === index);
}
