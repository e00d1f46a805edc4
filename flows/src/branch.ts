import { AppError } from "manyhands";
import { type AskMessage, type AskOutcome, type Flow, outcomeText } from "manyhands/flows";

/** How a branch ended. `canceled`: it was no longer needed, whether it had started or not. */
type BranchOutcome = "completed" | "failed" | "canceled";

/**
 * One branch: which agent is asked, and what. `item` is its list item, if the branches are for a
 * list.
 */
export type Branch = {
  /** Its number or name. */
  readonly name: string;
  readonly agent: string;
  readonly item?: string;
  readonly message: AskMessage;
  readonly deadlineMs?: number | undefined;
  /** Whether its answer is the flow's: see `AskOptions`. */
  readonly isAnswer?: boolean;
  /** Whether its agent gets the person's messages: see `AskOptions`. */
  readonly passMessages?: boolean;
};

/** The result of a branch. */
export type BranchResult = {
  readonly branch: Branch;
  readonly outcome: BranchOutcome;
  /** Empty for a canceled branch. */
  readonly answer: string;
  readonly taskId: string;
  readonly files: AskOutcome["files"];
  readonly artifacts?: NonNullable<AskOutcome["artifacts"]>;
  readonly data?: AskOutcome["data"];
  /** Why it did not complete. */
  readonly reason: string;
  readonly error?: AskOutcome["error"];
  /** Whether it failed because a limit of the flow was reached. */
  readonly hitLimit: boolean;
};

/**
 * Does a branch's work. If a limit of the flow is reached, the branch fails and the flow continues:
 * other branches had their share before.
 */
export async function workBranch(flow: Flow, branch: Branch): Promise<BranchResult> {
  const { name, agent, item, message, deadlineMs, isAnswer = false, passMessages = false } = branch;
  const about = item === undefined ? "" : ` with ${item}`;
  flow.tell({
    type: "branch-begun",
    note: `Branch ${name}: ${agent} begins${about}`,
    data: { branch: name, agent, begun: true },
  });
  try {
    const asked = await flow.ask(agent, message, {
      isAnswer,
      ...(passMessages && { passMessages }),
      ...(deadlineMs !== undefined && { deadlineMs }),
    });
    const { state, answer, data, taskId, files, artifacts, error } = asked;
    const isDone = state === "completed";
    const common = {
      branch,
      answer,
      taskId,
      files,
      hitLimit: false,
      ...(data !== undefined && { data }),
      ...(artifacts && { artifacts }),
      ...(error !== undefined && { error }),
    };
    return { ...common, outcome: isDone ? "completed" : "failed", reason: isDone ? "" : outcomeText(asked) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message: reason } = error;
    return { ...unasked(branch), outcome: "failed", reason, error: { code, message: reason }, hitLimit: true };
  }
}

/** The result of a branch that is no longer needed. */
export function canceledBranch(branch: Branch): BranchResult {
  return { ...unasked(branch), outcome: "canceled", reason: "It was not needed any more." };
}

function unasked(branch: Branch) {
  return { branch, answer: "", taskId: "", files: [], hitLimit: false };
}

/** Emits how a branch ended. */
export function tellBranch(flow: Flow, { branch: { name, agent }, outcome, reason }: BranchResult): void {
  flow.tell({
    type: "branch-ended",
    note: `Branch ${name}: ${outcome === "failed" ? reason : `${agent} ${outcome}`}`,
    data: { branch: name, agent, outcome, ...(reason !== "" && { reason }) },
  });
}
