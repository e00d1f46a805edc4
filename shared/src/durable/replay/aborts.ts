/**
 * The reason a body's signal carries. All are AbortErrors, so that code which knows cancellation
 * knows these.
 */
export const aborts = {
  canceled: () => abort("The run was cancelled."),
  leaseLost: () => abort("Another worker took the run over."),
  branchLost: () => abort("Another branch decided the outcome."),
  draining: () => abort("This process is shutting down; the run goes on elsewhere."),
  paused: () => abort("The run was paused."),
  ended: () => abort("The run has ended."),
};

function abort(message: string): DOMException {
  return new DOMException(message, "AbortError");
}

/** What an operation of a dropped body gets: it is collected with the body. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}
