import { abortable } from "../../core/async/within.ts";
import { AppError } from "../../core/errors.ts";

/**
 * The outcome of work that the browser should have finished well within the time; rejects with
 * `unavailable` if it has not, or if it failed unexpectedly.
 */
export async function answered<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  try {
    return await abortable(work, AbortSignal.timeout(timeoutMs));
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("unavailable", "The browser does not answer, or was ended in the meantime.", { cause });
  }
}
