import { useEffect, useState } from "preact/hooks";
import { runPath } from "../../api/catalog.ts";
import { get } from "../../api/client.ts";
import type { TreeEvent } from "../../api/tree-events.ts";

/** Whole events kept for when they are shown again. */
const kept = 40;
const whole = new Map<string, TreeEvent>();

/** The event with all its text; as it came until that is there, and where it cannot be had. */
export function useFullEvent(event: TreeEvent | undefined): TreeEvent | undefined {
  const key = event && `${event.runId}/${event.seq}`;
  const [, drawn] = useState(0);
  useEffect(() => {
    if (event?.cut === undefined || key === undefined || whole.has(key)) return;
    const gone = new AbortController();
    get<TreeEvent>(`${runPath(event.runId)}/events/${event.seq}`, gone.signal).then(
      ({ seq, at, event: full }) => {
        whole.set(key, { runId: event.runId, seq, at, event: full });
        const oldest = whole.keys().next().value;
        if (whole.size > kept && oldest !== undefined) whole.delete(oldest);
        drawn((count) => count + 1);
      },
      () => undefined,
    );
    return () => gone.abort();
  }, [key]);
  return (key === undefined ? undefined : whole.get(key)) ?? event;
}
