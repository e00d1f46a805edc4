import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { place } from "../../../state/router.ts";

/** Whether the newest row is kept in sight: off once the reader turns to another. */
export function useFollowing(count: number, running: boolean, scrollTo: (index: number) => void) {
  const follows = useSignal(place.value.query.get("event") === null);
  const seen = useRef(0);
  useEffect(() => {
    if (!follows.value) return;
    if (running) scrollTo(count - 1);
    seen.current = count;
  }, [count, running]);
  const atEnd = () => {
    follows.value = true;
    seen.current = count;
  };
  const stop = () => {
    follows.value = false;
  };
  return {
    atEnd,
    stop,
    missed: running && !follows.value ? Math.max(0, count - seen.current) : 0,
    toggle(): void {
      if (follows.value) stop();
      else {
        atEnd();
        scrollTo(count - 1);
      }
    },
  };
}
