import type { RunView } from "manyhands/internal/runs/run-view";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { getRuns } from "../../api/catalog.ts";
import { complain } from "../../parts/toast.tsx";
import { lastChange } from "../../state/store.ts";

const maxRuns = 100;
const soonMs = 100;

/** The runs of a conversation, the oldest first; undefined until they are known. */
export function useConversation(contextId: string): {
  readonly runs: readonly RunView[] | undefined;
  /** Asks again soon: something has changed. */
  readonly refresh: () => void;
} {
  const [runs, setRuns] = useState<readonly RunView[] | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const shown = useRef("");
  const ask = useCallback(async () => {
    const { runs: newest } = await getRuns({ contextId, limit: maxRuns });
    const now = JSON.stringify(newest);
    if (now !== shown.current) setRuns(newest.toReversed());
    shown.current = now;
  }, [contextId]);
  const refresh = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void ask().catch(() => undefined), soonMs);
  }, [ask]);
  const { runs: changed, all } = lastChange.value;
  useEffect(() => {
    void ask().catch(complain);
  }, [ask]);
  useEffect(() => {
    // The stream of a run tells of its events; this is for what no event tells, and for new runs.
    if (all === true || changed.some((run) => run.contextId === contextId)) refresh();
  }, [changed, all, refresh]);
  return { runs, refresh };
}
