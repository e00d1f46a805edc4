import type { Part } from "manyhands";
import { type AskOutcome, cut, type Flow } from "manyhands/flows";
import type * as z from "zod";
import type { assignment } from "../assignment.ts";
import { fillTemplate, marked } from "../prompt-text.ts";
import { carriedFiles, newestResults } from "../result-files.ts";
import { checkText, checkWork, type LoopCheck } from "./check.ts";
import { feedbackOf, type Iteration, tellIteration } from "./iteration.ts";

/** What an iteration works on, by which agent, and how it is checked. */
type LoopWork = {
  readonly agent: string;
  /** The task, with the user's later additions. */
  readonly task: string;
  readonly instruction: string;
  readonly settings?: z.output<typeof assignment.settings>;
  readonly until?: LoopCheck | undefined;
  readonly deadlineMs?: number | undefined;
  /** The task's files that the conversation already has. */
  readonly sent: readonly Part[];
};

/**
 * How many characters of its answer an agent is shown again if the conversation does not contain
 * it.
 */
const longestAnswer = 16_000;

/**
 * Makes one more attempt in the same conversation, and checks it. Rejects with `task_failed` if the
 * check cannot be made.
 */
export async function iterate(flow: Flow, work: LoopWork, before: readonly Iteration[]): Promise<Iteration> {
  const { agent, task, until = { by: "model" }, deadlineMs } = work;
  const number = before.length + 1;
  flow.tell({
    type: "iteration-begun",
    note: `Iteration ${number}: ${agent} begins`,
    data: { iteration: number, agent, begun: true },
  });
  const outcome = await attempt(flow, work, before);
  const isDone = outcome.state === "completed";
  // If the check turns out to be impossible, the first finished work is the result.
  if (isDone && before.every((one) => one.outcome.state !== "completed")) flow.reached(outcome.answer);
  const verdict = isDone ? await checkWork(flow, { task, worker: agent, outcome }, until, deadlineMs) : undefined;
  const iteration = { number, outcome, verdict };
  tellIteration(flow, iteration);
  return iteration;
}

/** Has the work done. What earlier attempts made counts unless this one made it anew. */
async function attempt(flow: Flow, work: LoopWork, before: readonly Iteration[]): Promise<AskOutcome> {
  const { agent, settings, deadlineMs, sent } = work;
  const last = before.findLast(({ outcome }) => outcome.contextId !== "")?.outcome;
  const contextId = last?.contextId;
  // What an agent may have forgotten it is shown and sent again.
  const goesOn = last?.remembers ?? false;
  const all = [...flow.files, ...carriedFiles(before.map(({ outcome }) => outcome.files))];
  const fresh = flow.files.filter((part) => part.type === "file" && !sent.some((one) => isSameFile(one, part)));
  const outcome = await flow.ask(
    agent,
    { text: textFor(work, before.at(-1), goesOn), parts: goesOn ? fresh : all, settings },
    { ...(deadlineMs !== undefined && { deadlineMs }), ...(contextId !== undefined && { contextId }) },
  );
  return { ...outcome, ...newestResults([...before.map((one) => one.outcome), outcome]) };
}

function isSameFile(one: Part, other: Part): boolean {
  return one.type === "file" && other.type === "file" && one.name === other.name && one.sha256 === other.sha256;
}

function textFor({ agent, task, instruction, until }: LoopWork, last: Iteration | undefined, goesOn: boolean): string {
  const instructions = fillTemplate(instruction, { goal: task, agent }) + checkText(until);
  if (last === undefined) return instructions;
  const { answer } = last.outcome;
  const yours = goesOn || answer === "" ? "" : `\n\nYour last answer:\n${marked("report", cut(answer, longestAnswer))}`;
  if (last.verdict?.passed === true)
    return `Your last attempt passed its check; meanwhile the user added to the task. Do that too and give the whole result again.${yours}

The task now:
${instructions}`;
  return `Your last attempt was checked, and it is not what is wanted yet. Fix what is wrong and give the whole result again.

What was found:
${feedbackOf(last)}${yours}

The task, as before:
${instructions}`;
}
