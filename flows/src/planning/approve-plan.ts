import { AppError } from "manyhands";
import type { Flow } from "manyhands/flows";
import * as z from "zod";
import { makePlan, type PlanBrief } from "./make-plan.ts";
import { draftSteps } from "./plan-draft.ts";
import { type DraftBounds, readDraft, type TaskPlan, type TaskStep } from "./task-plan.ts";

/** A person's answer to a plan. */
export type PlanReply =
  | { readonly verdict: "approved" }
  | { readonly verdict: "rejected" }
  | { readonly verdict: "edited"; readonly steps: readonly TaskStep[] }
  | { readonly verdict: "wish"; readonly text: string }
  | { readonly verdict: "unclear"; readonly fault: string };

/** How often a plan is shown to a person. */
const maxQuestions = 10;

const howTo = `Answer yes to begin or no to stop; say what should be different; or send the plan as you want it: lines like those above, or JSON
{"steps": [{"id": "1", "text": "…", "agent": "…", "depends_on": [], "expected": "…", "delivers": []}]}.`;

/** An approved plan, and the task with what the person said during approval. */
export type Approved = { readonly plan: TaskPlan; readonly goal: string };

/**
 * Asks a person to approve the plan, write another, or say what should be different, in which case
 * it is planned anew and asked about again. Rejects with `rejected` if the answer is no.
 */
export async function approvePlan(flow: Flow, made: TaskPlan, brief: PlanBrief): Promise<Approved> {
  let plan = made;
  let { goal } = brief;
  let fault = "";
  for (let asked = 0; asked < maxQuestions; asked++) {
    const lines = planLines(plan);
    const question = `${fault}This is the plan:\n\n${plan.title}\n${lines}\n\n${howTo}`;
    const answer = readAnswer(await flow.askPerson(question, "approval"), { ...brief, finished: [] });
    fault = "";
    if (answer.verdict === "approved") return { plan, goal };
    if (answer.verdict === "edited") return { plan: { ...plan, steps: answer.steps }, goal };
    if (answer.verdict === "rejected") throw new AppError("rejected", "The plan was not approved.");
    if (answer.verdict === "wish") {
      const wish = `This plan was made for it:\n${lines}\n\nThe user says of the plan:\n${answer.text}`;
      plan = await makePlan(flow, { ...brief, goal: `${goal}\n\n${wish}` });
      goal = `${goal}\n\nThe user said of a first plan for it:\n${answer.text}`;
    } else fault = `${answer.fault}\n\n`;
  }
  throw new AppError("rejected", "The plan was not approved: it was put before a person too often.");
}

/** The steps as a person reads and writes them. */
function planLines({ steps }: TaskPlan): string {
  return steps
    .map(({ id, agent, text, dependsOn, expected, delivers }) => {
      const after = dependsOn.length === 0 ? "" : ` (after ${dependsOn.join(", ")})`;
      const hands = delivers.length === 0 ? "" : ` (delivers ${delivers.join(", ")})`;
      return `${id}. [${agent}] ${text}${after}${hands}${expected === "" ? "" : ` => ${expected}`}`;
    })
    .join("\n");
}

const yes = /^(?:y|yes|yep|ok|okay|go|start|begin|approved?|fine)(?:,?\s+(?:please|ahead|on))?\W*$/i;
const no = /^(?:n|no|nope|stop|cancel|reject(?:ed)?|never mind)(?:,?\s+(?:thanks|thank you|please))?\W*$/i;

/** Parses a person's answer. */
export function readAnswer(text: string, bounds: DraftBounds): PlanReply {
  const said = text.trim();
  if (yes.test(said)) return { verdict: "approved" };
  if (no.test(said)) return { verdict: "rejected" };
  if (said === "") return { verdict: "unclear", fault: "There was no text in the answer." };
  const steps = stepsIn(said);
  if (steps === undefined) return { verdict: "wish", text: said };
  const draft = draftSteps.min(1).safeParse(steps);
  if (!draft.success)
    return { verdict: "unclear", fault: `That plan cannot be read:\n${z.prettifyError(draft.error)}` };
  const read = readDraft(draft.data, bounds);
  return "fault" in read ? { verdict: "unclear", fault: read.fault } : { verdict: "edited", steps: read.steps };
}

function withoutFence(text: string): string {
  const body = text.replace(/^```[a-z]*/, "");
  return (body.endsWith("```") ? body.slice(0, -3) : body).trim();
}

/** The steps in an answer, as JSON or as lines; undefined if there are none. */
function stepsIn(text: string): unknown {
  const body = withoutFence(text);
  if (/^[[{]/.test(body) && !/^\[[^\]"{]+\]/.test(body)) {
    try {
      const value: unknown = JSON.parse(body);
      return Array.isArray(value) ? value : ((value as { steps?: unknown } | null)?.steps ?? []);
    } catch {
      return [];
    }
  }
  const lines = text.split("\n").flatMap((line) => lineStep(line));
  return lines.length === 0 ? undefined : lines;
}

/**
 * `1. [agent] what (after 2) (delivers a.md) => what is expected`, read in time with its length.
 */
function lineStep(text: string): object[] {
  const [, id, agent, rest] = /^(?:([\w-]+)[.)]\s*)?\[([^\]]+)\](.*)$/.exec(text.trim()) ?? [];
  if (agent === undefined || rest === undefined) return [];
  const [before = "", ...expected] = rest.split("=>");
  const { left: named, inside: delivers } = lastBrackets(before, "delivers");
  const { left: what, inside: after } = lastBrackets(named, "after");
  const step = { agent, text: what.trim(), depends_on: listed(after), delivers: listed(delivers) };
  return [{ ...(id !== undefined && { id }), ...step, expected: expected.join("=>").trim() }];
}

/** What stands in brackets behind this word at the end of a text, and what is before them. */
function lastBrackets(text: string, word: string): { readonly left: string; readonly inside: string } {
  const whole = text.trimEnd();
  const body = whole.slice(0, -1);
  const opening = `(${word} `;
  const at = whole.endsWith(")") ? body.indexOf(opening, body.lastIndexOf(")") + 1) : -1;
  return at === -1 ? { left: text, inside: "" } : { left: body.slice(0, at), inside: body.slice(at + opening.length) };
}

function listed(text: string): string[] {
  return text.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));
}
