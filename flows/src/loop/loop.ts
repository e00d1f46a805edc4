import { AppError } from "manyhands";
import { defineFlow, type Flow, type FlowResult, isFinal, outcomeText } from "manyhands/flows";
import * as z from "zod";
import { assignment, deadline } from "../assignment.ts";
import { wholeGoal, withAdditions } from "../prompt-text.ts";
import { loopCheck } from "./check.ts";
import { iterate } from "./iterate.ts";
import { better, feedbackOf, type Iteration, isSame } from "./iteration.ts";

const options = z.strictObject({
  agent: assignment.agent.optional().describe("Who does the work; the first of the agents when left out."),
  instruction: z
    .string()
    .min(1)
    .default("{goal}")
    .describe(
      "What it is told first, before what it is checked by. {goal} and {agent} are filled in; what the check says follows in the same conversation.",
    ),
  settings: assignment.settings,
  until: loopCheck.optional().describe("The check that has to pass; left out, the model judges by the task."),
  maxIterations: z.int().min(1).max(20).default(5).describe("How often it is tried."),
  deadlineMs: deadline
    .optional()
    .describe("Milliseconds after which one attempt, or one check by an agent, is given up."),
});

type Options = z.output<typeof options>;

/** An agent works until a check passes; each time it is sent what was missing. */
export const loop = defineFlow({
  name: "loop",
  title: "Loop flow",
  description:
    "One agent works on a task until a check by a model, another agent or a command passes; each attempt knows what was wrong with the last.",
  version: "1.0.0",
  skills: [
    {
      id: "repeat-until",
      name: "Repeat until it is right",
      description:
        "Has work done, checked and done better until it passes, comes no further, or was tried often enough.",
      tags: ["flow", "loop", "review"],
      examples: ["Fix the program until its tests pass."],
    },
  ],
  options,
  example: {
    text: "Write a slogan for a bakery, at most five words long.",
    agents: ["manus"],
    options: { until: { by: "model", criteria: "One slogan of at most five words, for a bakery." }, maxIterations: 3 },
  },
  check: ({ agents, options: { agent } }) =>
    agents === undefined && agent === undefined
      ? "agents: name the agent that works, or give options.agent"
      : undefined,
  async perform(flow, options) {
    const agent = workerOf(flow, options);
    const iterations: Iteration[] = [];
    let task = wholeGoal(flow);
    let sent = flow.files;
    let best: Iteration | undefined;
    for (let number = 1; number <= options.maxIterations; number++) {
      expectRest(flow, options, number);
      task = withAdditions(task, await flow.receiveMessages());
      const iteration = await iterate(flow, { ...options, agent, task, sent }, iterations);
      sent = flow.files;
      const last = iterations.at(-1);
      iterations.push(iteration);
      best = keepBest(flow, better(best, iteration), best);
      const { verdict, outcome } = iteration;
      if (verdict?.passed === true) {
        const added = number === options.maxIterations ? [] : await flow.receiveMessages();
        if (added.length === 0) return conclude(iteration, iterations);
        task = withAdditions(task, added);
        // It passed without what the user added, so the next one is no worse.
        best = undefined;
      }
      if (isFinal(outcome)) throw new AppError("task_failed", `Iteration ${number}: ${outcomeText(outcome)}`);
      if (last !== undefined && isSame(last, iteration)) throw stuck(iteration);
    }
    throw exhausted(iterations);
  },
});

/** The agent that works. Throws for a wrong agent or checker before it starts. */
function workerOf(flow: Flow, { agent, until }: Options): string {
  const worker = agent ?? flow.agents[0]?.name ?? "";
  flow.check(worker);
  if (until !== undefined && until.by !== "model") flow.check(until.agent ?? worker);
  return worker;
}

/** Divides the remaining budget among the iterations that may follow, each with its check. */
function expectRest(flow: Flow, { until, maxIterations }: Options, number: number): void {
  const isByModel = until === undefined || until.by === "model";
  flow.expect((maxIterations - number + 1) * (isByModel ? 1 : 2), { own: isByModel });
}

/** Keeps the best iteration so far as the flow's partial result. */
function keepBest(flow: Flow, best: Iteration | undefined, before: Iteration | undefined): Iteration | undefined {
  if (best === undefined || best === before) return best;
  flow.handOn(best.outcome.files, best.outcome.artifacts);
  const open = best.verdict?.passed === true ? "" : `\n\nThe check did not pass: ${feedbackOf(best)}`;
  flow.reached(best.outcome.answer + open);
  return best;
}

function stuck(iteration: Iteration): AppError {
  const message = `No progress: iterations ${iteration.number - 1} and ${iteration.number} came to the same answer and the same feedback. ${feedbackOf(iteration)}`;
  return new AppError("stuck", message);
}

function exhausted(iterations: readonly Iteration[]): AppError {
  const count = iterations.length;
  const last = iterations.at(-1);
  const why = last === undefined ? "" : ` ${feedbackOf(last)}`;
  return new AppError(
    "step_limit",
    `The check did not pass in ${count === 1 ? "one iteration" : `${count} iterations`}, which is the bound.${why}`,
  );
}

function conclude({ outcome }: Iteration, iterations: readonly Iteration[]): FlowResult {
  return {
    answer: outcome.answer,
    data: {
      iterations: iterations.map((iteration) => ({
        iteration: iteration.number,
        state: iteration.outcome.state,
        taskId: iteration.outcome.taskId,
        answer: iteration.outcome.answer,
        ...(iteration.outcome.data !== undefined && { data: iteration.outcome.data }),
        passed: iteration.verdict?.passed ?? false,
        feedback: feedbackOf(iteration),
        ...(iteration.verdict?.score !== undefined && { score: iteration.verdict.score }),
      })),
    },
  };
}
