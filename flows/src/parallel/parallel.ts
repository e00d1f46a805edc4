import { AppError } from "manyhands";
import { defineFlow, type Flow, type FlowResult } from "manyhands/flows";
import * as z from "zod";
import { assignment, deadline } from "../assignment.ts";
import type { BranchResult } from "../branch.ts";
import { handOnBranches } from "../result-files.ts";
import { type Aggregation, aggregate, concatenated, failures } from "./aggregate.ts";
import { fanOut } from "./fan-out.ts";
import { type Policy, policyText } from "./policy.ts";
import { runBranches } from "./run-branches.ts";

const options = z.strictObject({
  branches: z
    .array(z.strictObject(assignment))
    .min(1)
    .max(50)
    .optional()
    .describe("Who is asked what; the same agent may come several times. Left out: each of the agents once."),
  items: z
    .array(z.string().trim().min(1))
    .min(1)
    .max(100)
    .optional()
    .describe("For each of these a branch, given to the branches' agents in turn."),
  instruction: z
    .string()
    .min(1)
    .optional()
    .describe(
      "What is told to a branch without an instruction. {goal}, {item}, {number}, {total} and {agent} are filled in.",
    ),
  policy: z.enum(["all", "any", "quorum"]).default("all").describe("Which branches have to complete."),
  quorum: z.int().min(1).max(100).optional().describe("How many have to complete, for the policy quorum."),
  rest: z
    .enum(["cancel", "await"])
    .default("cancel")
    .describe("What becomes of branches at work once the policy is met or cannot be met any more."),
  concurrency: z.int().min(1).max(50).default(8).describe("Branches at the same time."),
  deadlineMs: deadline
    .optional()
    .describe("Milliseconds after which a branch is given up, where it has no own deadline."),
  aggregate: z
    .enum(["concatenate", "model", "agent"])
    .default("concatenate")
    .describe("What makes one answer of the results: nothing but their order, the model, or an agent."),
  aggregator: z
    .string()
    .trim()
    .min(1)
    .optional()
    .describe("The agent that makes the answer, for the aggregation agent."),
});

type Options = z.output<typeof options>;

/** Agents work at the same time, independently; the caller chooses how many must complete. */
export const parallel = defineFlow({
  name: "parallel",
  title: "Parallel flow",
  description:
    "Several agents, or one for each of several items, work at the same time; their results become one answer.",
  version: "1.0.0",
  skills: [
    {
      id: "fan-out",
      name: "Work in parallel",
      description:
        "Gives a task, or each item of a list, to agents at once, and puts together what all, any or some of them found.",
      tags: ["flow", "parallel", "map"],
      examples: ["Have every agent estimate it, and go by the first three answers."],
    },
  ],
  options,
  example: {
    text: "Name one advantage of working this way, in one sentence.",
    agents: ["manus", "swe", "data-analysis"],
    options: { policy: "quorum", quorum: 2 },
  },
  check: ({ agents, options }) => {
    const { policy, quorum, aggregate, aggregator } = options;
    const count = options.items?.length ?? options.branches?.length ?? agents?.length;
    if (policy === "quorum" && quorum === undefined) return "options.quorum: say how many branches have to complete";
    if (policy !== "quorum" && quorum !== undefined) return "options.quorum: goes with the policy quorum only";
    if (quorum !== undefined && count !== undefined && quorum > count)
      return `options.quorum: at most ${count}, the number of branches`;
    if (aggregate === "agent" && aggregator === undefined) return "options.aggregator: name the agent";
    if (aggregate !== "agent" && aggregator !== undefined)
      return "options.aggregator: goes with the aggregation agent only";
    return undefined;
  },
  async perform(flow, options) {
    const branches = fanOut(flow, options);
    const policy = policyOf(options, branches.length);
    const how = aggregationOf(flow, options);
    flow.expect(branches.length + (how.aggregate === "agent" ? 1 : 0), { own: how.aggregate === "model" });
    const { results, met } = await runBranches(flow, branches, { ...options, policy });
    const completed = results.filter(({ outcome }) => outcome === "completed");
    handOnBranches(
      flow,
      completed.map(({ branch, ...made }) => ({ name: branch.name, ...made })),
    );
    const failed = failures(results);
    flow.reached([concatenated(results), failed].filter((text) => text !== "").join("\n\n"));
    if (!met) throw unmet(policy, results);
    return conclude(policy, results, await aggregate(flow, results, how));
  },
});

function policyOf({ policy, quorum }: Options, total: number): Policy {
  if (quorum !== undefined && quorum > total)
    throw new AppError("invalid_input", `options.quorum: at most ${total}, the number of branches.`);
  return { name: policy, needed: policy === "all" ? total : (quorum ?? 1), total };
}

function aggregationOf(flow: Flow, { aggregate, aggregator }: Options): Aggregation {
  if (aggregate !== "agent" || aggregator === undefined)
    return { aggregate: aggregate === "model" ? "model" : "concatenate" };
  flow.check(aggregator);
  return { aggregate, aggregator };
}

/** If a limit of the flow was reached, that is the cause. */
function unmet(policy: Policy, results: readonly BranchResult[]): AppError {
  const reasons = results.flatMap(({ branch, outcome, reason }) =>
    outcome === "failed" ? [`Branch ${branch.name}: ${reason}`] : [],
  );
  const code = results.find(({ hitLimit }) => hitLimit)?.error?.code ?? "task_failed";
  return new AppError(code, `Too few branches completed: ${policyText(policy)} had to. ${reasons.join(" ")}`);
}

function conclude(policy: Policy, results: readonly BranchResult[], text: string): FlowResult {
  const failed = failures(results);
  return {
    answer: failed === "" ? text : `${text}\n\n${failed}`,
    data: {
      policy: policyText(policy),
      branches: results.map(({ branch: { name, agent, item }, outcome, taskId, answer, data, reason, error }) => ({
        branch: name,
        agent,
        ...(item !== undefined && { item }),
        outcome,
        taskId,
        answer,
        ...(data !== undefined && { data }),
        ...(reason !== "" && { reason }),
        ...(error !== undefined && { error }),
      })),
    },
  };
}
