import type { JournalEvent } from "../../core/events.ts";
import type { Json } from "../../core/json.ts";
import type { Run, StepContext } from "../../core/run.ts";
import { ModelAway } from "../../models/model-failure.ts";

/**
 * How long a run leaves a model alone that cannot answer now: the first pause, each next one twice
 * as long, up to the longest. Milliseconds.
 */
export type ModelPauses = { readonly firstMs: number; readonly longestMs: number };

const usualPauses: ModelPauses = { firstMs: 15_000, longestMs: 300_000 };

type Waiting = {
  readonly pauses?: ModelPauses | undefined;
  /**
   * Whether the model has answered this run before: one that nobody has reached yet may have a
   * wrong address, and is not waited for.
   */
  readonly hasAnswered: boolean;
  /** The milliseconds the run may still take. */
  leftMs(step: StepContext): number;
  /** Told of each pause and of the time the attempt before it took. */
  spent(milliseconds: number): void;
};

/** What is recorded in place of a result while the model is away. */
type Away = { readonly away: { readonly pauseMs: number; readonly milliseconds: number } };

/**
 * A step that asks the model, made again for as long as the model cannot answer for now (429, 5xx,
 * an answer that stalls) and the run has time. The pauses between are durable: another process goes
 * on with them, and a cancel ends them. Each is told as it begins. What will not pass rejects at
 * once, as the step did.
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

/** Undefined where there is nothing to wait for, or no time to. */
function pauseAfter(error: unknown, pauses: number, waiting: Waiting, step: StepContext): number | undefined {
  if (!(error instanceof ModelAway) || !(error.wasReached || waiting.hasAnswered)) return undefined;
  const { firstMs, longestMs } = waiting.pauses ?? usualPauses;
  const growing = Math.min(longestMs, firstMs * 2 ** pauses);
  // Runs that were turned away together do not come back together.
  const pauseMs = Math.round(Math.max(error.retryAfterMs ?? 0, growing) + Math.random() * growing * 0.2);
  return pauseMs < waiting.leftMs(step) ? pauseMs : undefined;
}

function notice(cause: string, pauseMs: number): JournalEvent {
  const text = `The model cannot answer now: ${cause.replace(/\.+$/, "")}. It is asked again in ${pauseText(pauseMs)}.`;
  return { type: "notice-given", kind: "waiting", text, pauseMs };
}

function pauseText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
