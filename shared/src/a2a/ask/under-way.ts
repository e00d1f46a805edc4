/**
 * Counts the asks of each run executed here that are under way or were left open. Each execution
 * counts separately and reaches the same count by replay, in whatever process and whatever happened
 * before: what a run does depending on these counts is in its journal.
 */
export interface UnderWay {
  /** Starts a new count for an execution of the run that begins now. */
  execution(runId: string): AsksOfExecution;
  /**
   * Adds one ask; call it with the run's id before anything of the ask is recorded. Returns a
   * function that ends the ask.
   */
  begin(runId: string): () => void;
}

/** The asks of one execution. */
export type AsksOfExecution = {
  /** Whether none is under way or left open. */
  isNone(): boolean;
  /** Forgets them, once the execution is over. */
  forget(): void;
};

/** Creates the counts of one process. */
export function createUnderWay(): UnderWay {
  const executions = new Map<string, { open: number }>();
  return {
    execution(runId) {
      const own = { open: 0 };
      executions.set(runId, own);
      return {
        isNone: () => own.open === 0,
        forget() {
          if (executions.get(runId) === own) executions.delete(runId);
        },
      };
    },
    begin(runId) {
      const own = executions.get(runId);
      if (own !== undefined) own.open++;
      return () => {
        if (own !== undefined) own.open--;
      };
    },
  };
}
