import { AppError, type StoredFile } from "manyhands";
import { type AskOutcome, type Flow, isFinal, outcomeText } from "manyhands/flows";
import { carriedFiles, newestFiles, newestResults } from "../result-files.ts";
import type { Board } from "./board.ts";
import { undelivered } from "./deliverables.ts";
import { judgeStep } from "./judge-step.ts";
import type { StepResult } from "./step-result.ts";
import { type StepBackground, stepText, unknownInputs } from "./step-text.ts";
import type { TaskStep } from "./task-plan.ts";

/** How steps are worked on. */
export type WorkOptions = {
  /** The task, with later additions. */
  readonly goal: string;
  readonly attempts: number;
  readonly stepDeadlineMs: number | undefined;
  /** Whether the step is the whole plan, so that it has to do the whole task. */
  readonly isWhole: boolean;
  /** Whether a model checks the step before others begin; otherwise that is left to the end. */
  isCheckedAtOnce(step: TaskStep): boolean;
  /** The id of the dependency whose conversation the step continues. */
  readonly continues: string | undefined;
};

/** How one attempt ended. */
type Attempt = Pick<StepResult, "outcome" | "evidence" | "reason" | "isChecked">;

/**
 * Has a step done by its agent; if it was not done, retries with the reason. Its own outcome alone
 * closes it: done means that what was expected can be shown. An error that stops the whole flow is
 * returned as `fatal`, so that the other steps are not cut off.
 */
export async function workStep(
  flow: Flow,
  step: TaskStep,
  inputs: readonly StepResult[],
  board: Board,
  options: WorkOptions,
): Promise<StepResult> {
  let reason = "";
  const before = inputs.find(({ step: { id } }) => id === options.continues);
  const { goal } = options;
  let last: StepResult = { ...notStarted(step), attempts: 0 };
  for (let attempt = 1; attempt <= options.attempts; attempt++) {
    try {
      begin(flow, step, attempt, board);
      const isRetry = last.contextId !== "";
      const conversation = [isRetry ? last : before].find((earlier) => (earlier?.contextId ?? "") !== "");
      const known = conversation?.remembers ? conversation : undefined;
      const forgotten = isRetry && known === undefined ? last : undefined;
      const background = { goal, isWhole: options.isWhole, inputs, known, forgotten, isRetry, reason };
      const asked = await flow.ask(
        step.agent,
        { text: stepText(step, background), parts: partsOf(flow, background) },
        {
          ...(options.stepDeadlineMs !== undefined && { deadlineMs: options.stepDeadlineMs }),
          ...(conversation && { contextId: conversation.contextId }),
        },
      );
      const { answer, data, made, taskId } = asked;
      const contextId = asked.contextId || (conversation?.contextId ?? "");
      // What earlier attempts made counts unless this one made it anew.
      const results = newestResults([last, asked]);
      const judged = await judgeAttempt(flow, step, { ...asked, ...results }, filesOf(flow, inputs), options);
      const said = { answer, ...(data !== undefined && { data }), ...(made !== undefined && { made }) };
      const remembers = asked.remembers ?? false;
      last = { step, ...said, ...results, taskId, contextId, remembers, goal, attempts: attempt, ...judged };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      last = { ...last, outcome: "blocked", reason: error.message, attempts: attempt, fatal: error };
    }
    const isLast = attempt === options.attempts || last.outcome !== "failed";
    end(flow, last, isLast, board);
    if (isLast) break;
    reason = last.reason;
  }
  return last;
}

/** The result of a step that was not started. */
export function notStarted(step: TaskStep): StepResult {
  return {
    step,
    outcome: "blocked",
    answer: "",
    files: [],
    isChecked: false,
    evidence: "",
    reason: "",
    attempts: 0,
    taskId: "",
    contextId: "",
    remembers: false,
    goal: "",
  };
}

async function judgeAttempt(
  flow: Flow,
  step: TaskStep,
  asked: AskOutcome,
  given: readonly StoredFile[],
  { isWhole, goal, isCheckedAtOnce }: WorkOptions,
): Promise<Attempt> {
  const unchecked = { isChecked: false, evidence: "", reason: "" };
  if (asked.state !== "completed") {
    return { ...unchecked, outcome: isFinal(asked) ? "blocked" : "failed", reason: outcomeText(asked) };
  }
  const missing = undelivered(step, [...asked.files, ...given]);
  if (missing.length > 0) {
    return { ...unchecked, outcome: "failed", reason: `${missing.join(", ")} was not handed over as a file.` };
  }
  if (!isCheckedAtOnce(step)) return { ...unchecked, outcome: "completed", evidence: handedOverText(asked) };
  try {
    const { verdict, evidence, reason } = await judgeStep(flow, step, asked, {
      given,
      goal: isWhole ? goal : undefined,
    });
    return { outcome: outcomes[verdict], isChecked: true, evidence, reason };
  } catch (error) {
    if (!(error instanceof AppError && error.code === "task_failed")) throw error;
    return { ...unchecked, outcome: "failed", reason: `It could not be checked. ${error.message}` };
  }
}

function handedOverText({ files }: AskOutcome): string {
  return files.length === 0 ? "" : `Handed over: ${files.map(({ name }) => name).join(", ")}`;
}

const outcomes = { met: "completed", not_met: "failed", blocked: "blocked" } as const;

function begin(flow: Flow, { id, text, agent }: TaskStep, attempt: number, board: Board): void {
  const again = attempt === 1 ? "" : `, attempt ${attempt}`;
  const note = `Step ${id}${again}: ${agent} begins: ${text}`;
  flow.tell({ type: "step-assigned", note, data: { step: id, agent, attempt, begun: true } });
  board.mark(flow, id, "in_progress", "", note);
}

function end(
  flow: Flow,
  { step, outcome, attempts, evidence, reason }: StepResult,
  isLast: boolean,
  board: Board,
): void {
  const { id, agent } = step;
  const why = outcome === "completed" ? evidence : reason;
  const note = `Step ${id}: ${agent} ${outcome}${why === "" ? "" : `: ${why}`}`;
  flow.tell({
    type: "step-ended",
    note,
    data: {
      step: id,
      agent,
      attempt: attempts,
      outcome,
      ...(outcome !== "completed" && { reason }),
      ...(evidence !== "" && { evidence }),
    },
  });
  if (isLast) board.mark(flow, id, outcome === "completed" ? "completed" : "blocked", oneLine(why), note);
}

/**
 * The files to send along, except those that its conversation has, perhaps changed since.
 */
function partsOf(flow: Flow, background: StepBackground) {
  const { known, forgotten } = background;
  const own = known === undefined ? flow.files : [];
  const results = [...unknownInputs(background), ...(forgotten === undefined ? [] : [forgotten])];
  return [...own, ...carriedFiles(results.map(({ files }) => files))];
}

/** The files that a step has to work with: those of the task, and those of its dependencies. */
function filesOf(flow: Flow, inputs: readonly StepResult[]): StoredFile[] {
  const own = flow.files.flatMap((part) => (part.type === "file" ? [part] : []));
  return newestFiles([own, ...inputs.map(({ files }) => files)]);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 200);
}
