import { AppError } from "../core/errors.ts";
import type { JournalEvent } from "../core/events/events.ts";
import type { Recall, Recalled } from "../core/memory.ts";
import { partWords } from "../core/message.ts";
import type { Model } from "../core/model.ts";
import type { Engine } from "../core/runs/engine.ts";
import type { Run, StepContext } from "../core/runs/run.ts";
import type { AgentInput } from "../core/runs/task.ts";
import { recalledEarlier } from "./earlier.ts";

const recallMs = 10_000;

type RecallForDeps = {
  readonly recall?: Recall;
  readonly engine: Pick<Engine, "events">;
  readonly model: Pick<Model, "capabilities">;
};

/**
 * What a task that begins is shown of its principal's memory, as an event of the step that looks.
 * A task that comes from another agent or a flow is about what the user said to that: its own words
 * are theirs. Looking never fails a task: one that finds nothing in time begins without.
 */
export async function recallFor(
  run: Pick<Run, "principal">,
  { message, said = [] }: Pick<AgentInput, "message" | "said">,
  earlier: readonly string[],
  { recall, engine, model }: RecallForDeps,
  { signal, emit }: Pick<StepContext, "signal" | "emit">,
  withinMs = recallMs,
): Promise<Recalled | undefined> {
  if (recall === undefined) return undefined;
  const tell = (event: JournalEvent) => emit(event);
  try {
    const recalled = await recall({
      principal: run.principal,
      words: (said.length > 0 ? said : message.parts.map(partWords)).join("\n"),
      known: () => recalledEarlier(earlier, engine),
      contextWindow: model.capabilities.contextWindow,
      signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]),
    });
    if (recalled === undefined) return undefined;
    const { trouble, ...told } = recalled;
    tell({ type: "memory-recalled", ...told });
    if (trouble !== undefined) tell(notice(`Your memory was searched by words alone. ${trouble}`));
    return recalled;
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof AppError ? ` ${error.message}` : "";
    tell(notice(`Your memory could not be searched.${why}`));
    return undefined;
  }
}

function notice(text: string): JournalEvent {
  return { type: "notice-given", kind: "tools", text };
}
