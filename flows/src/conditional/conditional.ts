import { AppError } from "manyhands";
import { agentByName, defineFlow, type Flow, type FlowResult } from "manyhands/flows";
import * as z from "zod";
import { assignment } from "../assignment.ts";
import { tellBranch, workBranch } from "../branch.ts";
import { fillTemplate, wholeGoal, withAdditions } from "../prompt-text.ts";
import { chooseRoute } from "./choose-route.ts";
import { noRoute } from "./classify.ts";
import type { Choice, Route } from "./route.ts";
import { rule } from "./rule.ts";

const branch = z.strictObject({
  name: z.string().trim().min(1).max(60).describe("What it is called."),
  when: z.string().trim().default("").describe("For what tasks it is; as its agent describes itself when left out."),
  rules: z.array(rule).max(50).default([]).describe("It is taken, without a model, where one of these holds."),
  ...assignment,
});

const options = z.strictObject({
  branches: z
    .array(branch)
    .min(1)
    .max(20)
    .optional()
    .describe(
      "The ways a task can go; exactly one is taken. Left out: one for each of the agents, by what its card says.",
    ),
  classify: z
    .enum(["both", "rules", "model"])
    .default("both")
    .describe("What chooses: the rules and, where none holds, the model; or one of them alone."),
  default: z.string().trim().min(1).optional().describe("The branch that is taken when none fits."),
  unsure: z
    .enum(["default", "ask"])
    .default("default")
    .describe("What happens when none fits: the default branch, or the person is asked first."),
  confidence: z.number().min(0).max(1).default(0.5).describe("How sure the model has to be."),
});

type Options = z.output<typeof options>;

/** Classifies a task; exactly one agent does it. */
export const conditional = defineFlow({
  name: "conditional",
  title: "Conditional flow",
  description: "Sorts a task by rules or by a model's judgement, and gives it to the one agent that its kind is for.",
  version: "1.1.0",
  body: 3,
  skills: [
    {
      id: "route",
      name: "Route a task",
      description: "Decides what kind of task it is, says why, and has the agent for that kind do it.",
      tags: ["flow", "routing", "classification"],
      examples: ["Bugs go to the programmer, tables to the analyst, everything else to Manus."],
    },
  ],
  options,
  example: {
    text: "Which region sold most?",
    files: [{ name: "orders.csv", text: "region,revenue\nnorth,120\nsouth,80\nnorth,30\n" }],
    options: {
      branches: [
        { name: "data", when: "Questions that a table answers", rules: [{ file: "*.csv" }], agent: "data-analysis" },
        { name: "code", when: "Work on programs", rules: [{ keywords: ["bug", "code"] }], agent: "swe" },
        { name: "other", when: "Everything else", agent: "manus" },
      ],
      default: "other",
    },
  },
  check: ({ options }) => faultOf(options),
  perform: (flow, options) => routed(flow, { ...options, passMessages: true }),
  former: [
    { body: 2, perform: (flow, options: Options) => routed(flow, options) },
    { body: 1, perform: (flow, options: Options) => routed(flow, { ...options, numbering: "always" }) },
  ],
});

/** What differs between the versions of the body. */
type Version = { readonly numbering?: "always"; readonly passMessages?: true };

/** Chooses the branch and has its agent do the task. */
async function routed(flow: Flow, options: Options & Version): Promise<FlowResult> {
  const routes = routesOf(flow, options);
  flow.expect(1, { own: options.classify !== "rules" });
  const choice = await chooseRoute(flow, routes, options);
  const { route, by, reason } = choice;
  const note = `Takes ${route.name} (${by}): ${reason}`;
  flow.tell({ type: "choice-made", note, data: { choice: route.name, by, reason } });
  flow.expect(1);
  return take(flow, choice, options);
}

/** What is wrong with options that are valid individually. */
function faultOf({ branches, classify, default: fallback }: Options): string | undefined {
  if (branches === undefined) return classify === "rules" ? "options.branches: rules need branches" : undefined;
  const names = branches.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `options.branches: there are two named ${twice}`;
  if (names.includes(noRoute)) return `options.branches: ${noRoute} cannot be a name`;
  if (fallback !== undefined && !names.includes(fallback)) return `options.default: there are ${names.join(", ")}`;
  const isRuled = branches.some(({ rules }) => rules.length > 0);
  return classify === "rules" && !isRuled ? "options.branches: none of them has rules" : undefined;
}

/** Throws for a wrong agent or a default that names no route, before anything is decided. */
function routesOf(flow: Flow, { branches, default: fallback }: Options): Route[] {
  const distinct = [...new Set(flow.agents.map(({ name }) => name))];
  const given = branches ?? distinct.map((name): Route => ({ name, when: "", rules: [], agent: name }));
  const routes = given.map(({ when, ...route }) => {
    flow.check(route.agent);
    return { ...route, when: when || (agentByName(route.agent, flow.agents)?.description ?? "") };
  });
  if (fallback !== undefined && !routes.some(({ name }) => name === fallback)) {
    throw new AppError("invalid_input", `options.default: there are ${routes.map(({ name }) => name).join(", ")}.`);
  }
  return routes;
}

async function take(
  flow: Flow,
  { route, by, reason, confidence, said: asked = [] }: Choice,
  { passMessages }: Version,
): Promise<FlowResult> {
  const { name, agent, instruction = "{goal}", settings, deadlineMs } = route;
  const added = [...asked, ...(await flow.receiveMessages())];
  const text = fillTemplate(instruction, { goal: wholeGoal(flow), branch: name, reason, agent });
  const result = await workBranch(flow, {
    name,
    agent,
    message: { text: withAdditions(text, added), parts: flow.files, settings },
    deadlineMs,
    isAnswer: true,
    ...(passMessages && { passMessages }),
  });
  flow.handOn(result.files, result.artifacts);
  tellBranch(flow, result);
  if (result.outcome !== "completed") {
    flow.reached(result.answer);
    throw new AppError(
      result.hitLimit ? (result.error?.code ?? "task_failed") : "task_failed",
      `Branch ${name}: ${result.reason}`,
    );
  }
  const choice = { branch: name, by, reason, ...(confidence !== undefined && { confidence }) };
  const { answer, taskId, data } = result;
  return { answer, data: { choice, agent, taskId, ...(data !== undefined && { data }) } };
}
