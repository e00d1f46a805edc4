import { AppError } from "../../core/errors.ts";
import type { Engine, Log } from "../../core/runs/engine.ts";

/**
 * Between two calls while there is something to enter, and while there is nothing. Milliseconds.
 */
const nextMs = 20;
const lookMs = 1_000;

/**
 * Enters runs that have ended into the index of words, a few at a time, until it is stopped.
 * Whoever searches does so; what is not entered yet is found by looking through it. Returns what
 * stops it.
 */
export function startIndexing(engine: Pick<Engine, "indexWords">, log: Pick<Log, "error">): () => void {
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pass = async () => {
    let entered = 0;
    try {
      entered = await engine.indexWords();
    } catch (error) {
      // A store that is away is reported by those who need it now.
      if (!isStopped && !(error instanceof AppError))
        log.error({ err: error }, "The words of runs could not be indexed; it is tried again.");
    }
    if (!isStopped) later(entered > 0 ? nextMs : lookMs);
  };
  const later = (ms: number) => {
    timer = setTimeout(() => void pass(), ms);
    timer.unref();
  };
  later(lookMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
