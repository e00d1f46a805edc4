import { AppError } from "../errors.ts";
import type { Log } from "../runs/engine.ts";

/**
 * For the `catch` of work that nobody waits for and that goes on or comes again: an expected
 * failure is for others to tell, a bug is logged and never ends the work silently.
 */
export function logBug(log: Pick<Log, "error">, said: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof AppError)) log.error({ err: error }, said);
  };
}
