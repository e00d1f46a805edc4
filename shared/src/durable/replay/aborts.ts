import { shutdown } from "../../core/runs/shutdown.ts";

/**
 * The abort reasons of a body's signal. All are AbortErrors, so code that handles cancellation
 * handles them too.
 */
export const aborts = {
  canceled: () => abort("The run was canceled."),
  leaseLost: () => abort("Another worker took the run over."),
  branchLost: () => abort("Another branch decided the outcome."),
  draining: shutdown,
  paused: () => abort("The run was paused."),
  ended: () => abort("The run has ended."),
};

function abort(message: string): DOMException {
  return new DOMException(message, "AbortError");
}

/**
 * A promise that never settles, for operations of a dropped body; it is garbage-collected with the
 * body.
 */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}
