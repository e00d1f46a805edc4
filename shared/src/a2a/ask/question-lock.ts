/**
 * Lets one question of a run be open at a time: of two, a person's answer could not be told apart.
 * Kept in memory, for a run is executed in one process; an execution that takes the run up again
 * holds it again (`hold`) before anyone else can take it.
 */
export type QuestionLock = {
  /**
   * Waits until no other ask of this run holds the floor, at most `waitMs`; whether it then is this
   * one's.
   */
  take(runId: string, askId: string, waitMs: number, signal: AbortSignal): Promise<boolean>;
  hold(runId: string, askId: string): void;
  leave(runId: string, askId: string): void;
};

/** Runs whose holder is remembered; one that was cancelled while it asked never leaves. */
const mostRuns = 1_000;
const lookMs = 20;

/** Makes one that nobody holds. */
export function createQuestionLock(): QuestionLock {
  const holders = new Map<string, string>();
  const hold = (runId: string, askId: string) => {
    holders.delete(runId);
    holders.set(runId, askId);
    const oldest = holders.keys().next().value;
    if (holders.size > mostRuns && oldest !== undefined) holders.delete(oldest);
  };
  return {
    hold,
    async take(runId, askId, waitMs, signal) {
      for (const deadline = performance.now() + waitMs; performance.now() < deadline; ) {
        // First a pause: whoever held the floor before a restart takes it up during the replay,
        // which waits for nothing.
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
