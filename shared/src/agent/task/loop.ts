import { AppError } from "../../core/errors.ts";
import type { ToolCall } from "../../core/model.ts";
import type { ParsedArguments } from "../../models/arguments.ts";
import type { AgentState } from "./agent-state.ts";

/** One turn of an agent. Says whether the task is over. */
export type Turn = (task: AgentState) => Promise<"continue" | "done">;

/**
 * Repeats a step until it is done; rejects with `step_limit` when the task's bound is reached
 * first.
 */
export async function loop(step: Turn, task: AgentState): Promise<void> {
  const { steps } = task.limits;
  for (task.step = 1; task.step <= steps; task.step++) {
    task.run.abortSignal.throwIfAborted();
    task.run.emit({ type: "step-started", step: task.step, maxSteps: steps });
    if ((await step(task)) === "done") return;
  }
  throw new AppError("step_limit", `No answer after ${steps} steps, the bound of this task.`);
}

/**
 * A call with what this server's tools and configuration say of it. Recorded with the reply that
 * asked for it, since a server that takes the task up later may have other tools and another
 * configuration.
 */
export type PlannedCall = ToolCall & {
  /** Its arguments as they were understood; left out by earlier versions. */
  readonly input?: ParsedArguments;
  readonly approval: "allow" | "ask" | "deny";
  /** What the call would do that a person should decide about, in words made by code. */
  readonly risk?: string;
  /**
   * `together`: may run beside neighbours of this kind. `waiting`: with the durable verbs, in its
   * turn.
   */
  readonly way: "alone" | "together" | "waiting" | "waiting-together";
};

/**
 * Decides what to do next: the calls to make, or none. Sets the task's outcome when it has the
 * answer.
 */
export type Think = (task: AgentState) => Promise<readonly PlannedCall[]>;

/** Does what a thought asked for and adds what came of it to the task. */
export type Act = (calls: readonly PlannedCall[], task: AgentState) => Promise<void>;

/** A step that thinks, then acts on what the thought asked for. */
export function react(think: Think, act: Act): Turn {
  return async (task) => {
    const calls = await think(task);
    if (calls.length > 0) await act(calls, task);
    return task.outcome === undefined ? "continue" : "done";
  };
}
