/** How many asks of each run executed here are under way or were left open. Rebuilt by replay; the journal is what tells which. */
export interface UnderWay {
  /** One more ask; to be called with the run's id before anything of it is recorded. Answers what ends it. */
  begin(runId: string): () => void;
  /** Whether none is. */
  isNone(runId: string): boolean;
  /** Forgets a run that is not executed here any more. */
  forget(runId: string): void;
}

/** The counts of no asks. */
export function createUnderWay(): UnderWay {
  const counts = new Map<string, number>();
  const add = (runId: string, count: number) => counts.set(runId, (counts.get(runId) ?? 0) + count);
  return {
    begin(runId) {
      add(runId, 1);
      return () => void add(runId, -1);
    },
    isNone: (runId) => (counts.get(runId) ?? 0) === 0,
    forget: (runId) => void counts.delete(runId),
  };
}
