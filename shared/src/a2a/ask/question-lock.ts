/**
 * Lets one question of a run be open at a time, because an answer could not be assigned to one of
 * two. Kept in memory: a run is executed in one process, and an execution that resumes the run
 * takes the lock again (`hold`) before anyone else can.
 */
export type QuestionLock = {
  /**
   * Waits until no other ask of this run holds the lock, `waitMs` at most; returns whether this ask
   * now holds it.
   */
  take(runId: string, askId: string, waitMs: number, signal: AbortSignal): Promise<boolean>;
  hold(runId: string, askId: string): void;
  leave(runId: string, askId: string): void;
};

/** Most runs whose holder is remembered; a run cancelled while it asked never releases its lock. */
const maxRuns = 1_000;
const lookMs = 20;

/** Creates the locks of one process, one for each run. */
export function createQuestionLock(): QuestionLock {
  const holders = new Map<string, string>();
  const hold = (runId: string, askId: string) => {
    holders.delete(runId);
    holders.set(runId, askId);
    const oldest = holders.keys().next().value;
    if (holders.size > maxRuns && oldest !== undefined) holders.delete(oldest);
  };
  return {
    hold,
    async take(runId, askId, waitMs, signal) {
      for (const deadline = performance.now() + waitMs; performance.now() < deadline; ) {
        // Pause first: the holder from before a restart takes the lock again during the replay,
        // which does not wait.
        await Bun.sleep(lookMs);
        signal.throwIfAborted();
        const holder = holders.get(runId);
        if (holder !== undefined && holder !== askId) continue;
        hold(runId, askId);
        return true;
      }
      return false;
    },
    leave(runId, askId) {
      if (holders.get(runId) === askId) holders.delete(runId);
    },
  };
}
