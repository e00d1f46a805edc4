import { AppError } from "../../core/errors.ts";
import type { ToolCall } from "../../core/model.ts";
import { counted } from "../../core/text/counted.ts";
import type { ParsedArguments } from "../../models/arguments.ts";
import type { AgentState } from "./agent-state.ts";

/** One turn of an agent. Returns whether the task is over. */
export type Turn = (task: AgentState) => Promise<"continue" | "done">;

/**
 * Repeats a turn until the task is done; rejects with `step_limit` if the task's limit is reached
 * first.
 */
export async function loop(turn: Turn, task: AgentState): Promise<void> {
  const { steps } = task.limits;
  for (task.turn = 1; task.turn <= steps; task.turn++) {
    task.run.abortSignal.throwIfAborted();
    task.run.emit({ type: "step-started", step: task.turn, maxSteps: steps });
    if ((await turn(task)) === "done") return;
  }
  throw new AppError("step_limit", `No answer after ${counted(steps, "turn")}, this task's limit.`);
}

/**
 * A call, planned according to this server's tools and configuration. Recorded with the reply that
 * requested it, since a server that resumes the task later may have different tools and
 * configuration.
 */
export type PlannedCall = ToolCall & {
  /** Its parsed arguments; left out by earlier versions. */
  readonly input?: ParsedArguments;
  readonly approval: "allow" | "ask" | "deny";
  /** Denied because the model was told to make no call, or another one. */
  readonly unwanted?: true;
  /** Denied because it could not succeed, and why. */
  readonly impossible?: string;
  /** What the call would do that a person should decide about, in words written by code. */
  readonly risk?: string;
  /**
   * Its parsed arguments as text for the person who is asked about it; left out where the model
   * wrote exactly that, and by earlier versions.
   */
  readonly shown?: string;
  /** What a person may allow for the rest of the task instead of this call alone. */
  readonly forTask?: string;
  /** The tools of calls before it in its turn that the configuration denied. */
  readonly deniedBefore?: readonly string[];
  /**
   * `together`: may run in parallel with neighbours of this kind. `waiting`: a durable call, one at
   * a time.
   */
  readonly way: "alone" | "together" | "waiting" | "waiting-together";
};

/**
 * Decides what to do next: the calls to make, or none. Sets the task's outcome once it has the
 * answer.
 */
export type Think = (task: AgentState) => Promise<readonly PlannedCall[]>;

/** Makes the calls that `Think` decided on and adds their results to the task. */
export type Act = (calls: readonly PlannedCall[], task: AgentState) => Promise<void>;

/** A turn that thinks, then makes the calls the thought asked for. */
export function react(think: Think, act: Act): Turn {
  return async (task) => {
    const calls = await think(task);
    if (calls.length > 0) await act(calls, task);
    return task.outcome === undefined ? "continue" : "done";
  };
}
