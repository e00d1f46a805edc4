import type { RefObject } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/** The reader is at the end when it is this close. */
const nearPixels = 120;

/**
 * Keeps the newest in view while the reader is at the end, and never moves what is being read:
 * `isBehind` when there is more below.
 */
export function useTail(scroller: RefObject<HTMLElement | null>): {
  readonly isBehind: boolean;
  grew(): void;
  scrolled(): void;
  follow(): void;
} {
  const follows = useRef(true);
  const [isBehind, setBehind] = useState(false);
  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box !== null) box.scrollTop = box.scrollHeight;
  }, [scroller]);
  useEffect(() => {
    const box = scroller.current;
    const inner = box?.firstElementChild;
    if (inner === undefined || inner === null) return;
    const watch = new ResizeObserver(() => {
      if (follows.current) toEnd();
    });
    watch.observe(inner);
    return () => watch.disconnect();
  });
  return {
    isBehind,
    grew() {
      if (follows.current) toEnd();
      else setBehind(true);
    },
    scrolled() {
      const box = scroller.current;
      if (box === null) return;
      follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < nearPixels;
      if (follows.current) setBehind(false);
    },
    follow() {
      follows.current = true;
      setBehind(false);
      toEnd();
    },
  };
}
