/**
 * How many asks of each run executed here are under way or were left open. Each execution counts
 * for itself and comes to the same by replay, whatever process it is in and whatever went before:
 * what a run does by these counts is in its journal.
 */
export interface UnderWay {
  /** Counts anew, for an execution of the run that begins now. */
  execution(runId: string): AsksOfExecution;
  /**
   * One more ask; to be called with the run's id before anything of it is recorded. Answers what
   * ends it.
   */
  begin(runId: string): () => void;
}

/** The asks of one execution. */
export type AsksOfExecution = {
  /** Whether none is under way or left open. */
  isNone(): boolean;
  /** Forgets them; for when the execution is over. */
  forget(): void;
};

/** The counts of no asks. */
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
