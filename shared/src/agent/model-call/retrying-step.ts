import type { JournalEvent } from "../../core/events/events.ts";
import type { Json } from "../../core/json.ts";
import type { Run, StepContext } from "../../core/runs/run.ts";
import { ModelAway } from "../../models/model-failure.ts";

/**
 * How many milliseconds a run waits for a model that cannot answer now: the first pause, doubled
 * each time, up to the longest.
 */
export type ModelPauses = { readonly firstMs: number; readonly longestMs: number };

const usualPauses: ModelPauses = { firstMs: 15_000, longestMs: 300_000 };

type Waiting = {
  readonly pauses?: ModelPauses | undefined;
  /**
   * Whether the model has answered this run before. A model that was never reached may have a wrong
   * address, and the run does not wait for it.
   */
  readonly hasAnswered: boolean;
  /** The milliseconds the run may still take. */
  leftMs(step: StepContext): number;
  /** Gets the length of each pause plus the time of the attempt before it. */
  spent(milliseconds: number): void;
};

/** What is recorded in place of a result while the model cannot answer. */
type Away = { readonly away: { readonly pauseMs: number; readonly milliseconds: number } };

/**
 * A step that asks the model, repeated while the model cannot answer (429, 5xx, a stalled answer)
 * and the run has time. The pauses are durable: another process continues them, and a cancel ends
 * them. Each pause is reported when it starts. A permanent failure rejects at once, as the step
 * did.
 */
export async function retryingStep<T extends { readonly [field: string]: Json | undefined }>(
  run: Run,
  name: string,
  waiting: Waiting,
  ask: (step: StepContext) => Promise<T>,
): Promise<T> {
  for (let pauses = 0; ; pauses++) {
    const recorded = await run.step<T | Away>(name, async (step) => {
      const started = performance.now();
      try {
        return await ask(step);
      } catch (error) {
        const pauseMs = pauseAfter(error, pauses, waiting, step);
        if (pauseMs === undefined) throw error;
        step.emit(notice((error as ModelAway).message, pauseMs));
        return { away: { pauseMs, milliseconds: Math.round(performance.now() - started) } };
      }
    });
    if (!isAway(recorded)) return recorded;
    const { pauseMs, milliseconds } = recorded.away;
    await run.sleep(pauseMs);
    waiting.spent(pauseMs + milliseconds);
  }
}

function isAway<T extends object>(recorded: T | Away): recorded is Away {
  return "away" in recorded;
}

/** Undefined if waiting is pointless or no time is left. */
function pauseAfter(error: unknown, pauses: number, waiting: Waiting, step: StepContext): number | undefined {
  if (!(error instanceof ModelAway) || !(error.wasReached || waiting.hasAnswered)) return undefined;
  const { firstMs, longestMs } = waiting.pauses ?? usualPauses;
  const growing = Math.min(longestMs, firstMs * 2 ** pauses);
  // Jitter: runs that failed together do not retry together.
  const pauseMs = Math.round(Math.max(error.retryAfterMs ?? 0, growing) + Math.random() * growing * 0.2);
  return pauseMs < waiting.leftMs(step) ? pauseMs : undefined;
}

function notice(cause: string, pauseMs: number): JournalEvent {
  const text = `The model cannot answer now: ${cause.replace(/(?<!\.)\.+$/, "")}. Retrying in ${pauseText(pauseMs)}.`;
  return { type: "notice-given", kind: "waiting", text, pauseMs };
}

function pauseText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
