import type { Part } from "manyhands";
import { type AskOutcome, cut, type Flow } from "manyhands/flows";
import type * as z from "zod";
import type { assignment } from "../assignment.ts";
import { fillTemplate, marked } from "../prompt-text.ts";
import { newestFiles } from "../result-files.ts";
import { checkText, checkWork, type LoopCheck } from "./check.ts";
import { feedbackOf, type Iteration, tellIteration } from "./iteration.ts";

/** What is worked on in an iteration, by whom, and how it is checked. */
type LoopWork = {
  readonly agent: string;
  /** The task, with what the user added to it since. */
  readonly task: string;
  readonly instruction: string;
  readonly settings?: z.output<typeof assignment.settings>;
  readonly until?: LoopCheck | undefined;
  readonly deadlineMs?: number | undefined;
  /** What came with the task that the conversation has already. */
  readonly sent: readonly Part[];
};

/**
 * Characters of an answer that its agent is shown again, where it cannot look it up in the
 * conversation.
 */
const longestAnswer = 16_000;

/**
 * One more attempt, in the same conversation as those before, and its check. Rejects with
 * `task_failed` when the check cannot be made.
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
  // Should the check not be possible at all, the first work done is what there is.
  if (isDone && before.every((one) => one.outcome.state !== "completed")) flow.reached(outcome.answer);
  const verdict = isDone ? await checkWork(flow, { task, worker: agent, outcome }, until, deadlineMs) : undefined;
  const iteration = { number, outcome, verdict };
  tellIteration(flow, iteration);
  return iteration;
}

/** Has the work done. Files of earlier attempts count where this one did not make them anew. */
async function attempt(flow: Flow, work: LoopWork, before: readonly Iteration[]): Promise<AskOutcome> {
  const { agent, settings, deadlineMs, sent } = work;
  const contextId = before.findLast(({ outcome }) => outcome.contextId !== "")?.outcome.contextId;
  const goesOn = contextId !== undefined;
  const fresh = flow.files.filter((part) => part.type === "file" && !sent.some((one) => isSameFile(one, part)));
  const outcome = await flow.ask(
    agent,
    { text: textFor(work, before.at(-1), goesOn), parts: goesOn ? fresh : flow.files, settings },
    { ...(deadlineMs !== undefined && { deadlineMs }), ...(contextId !== undefined && { contextId }) },
  );
  return { ...outcome, files: newestFiles([...before.map((one) => one.outcome.files), outcome.files]) };
}

function isSameFile(one: Part, other: Part): boolean {
  return one.type === "file" && other.type === "file" && one.name === other.name && one.sha256 === other.sha256;
}

function textFor({ agent, task, instruction, until }: LoopWork, last: Iteration | undefined, goesOn: boolean): string {
  const told = fillTemplate(instruction, { goal: task, agent }) + checkText(until);
  if (last === undefined) return told;
  const { answer } = last.outcome;
  const yours = goesOn || answer === "" ? "" : `\n\nYour last answer:\n${marked("report", cut(answer, longestAnswer))}`;
  return `Your last attempt was checked, and it is not what is wanted yet. Mend what is wrong and give the whole result again.

What was found:
${feedbackOf(last)}${yours}

The task, as before:
${told}`;
}
