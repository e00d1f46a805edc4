import { useLayoutEffect, useState } from "preact/hooks";

/** Rows in the document above and below those that are seen. */
const beyond = 10;
/** How many rows are scrolled before others enter the document. */
const step = 5;
const narrow = matchMedia("(max-width: 760px)");
const heights = { wide: 27, narrow: 44 };
/** The row above the list that stays when it scrolls. */
const axisHeight = 30;

type Seen = { readonly top: number; readonly height: number; readonly narrow: boolean };

const isSame = (one: Seen, other: Seen) =>
  one.top === other.top && one.height === other.height && one.narrow === other.narrow;

/** Which rows of a long list are in the document, by where its box is scrolled to. */
export function useWindow(box: { readonly current: HTMLElement | null }, count: number) {
  const [seen, setSeen] = useState({ top: 0, height: 800, narrow: narrow.matches });
  useLayoutEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    const look = () => {
      const stride = step * (narrow.matches ? heights.narrow : heights.wide);
      const top = Math.floor(shown.scrollTop / stride) * stride;
      const now = { top, height: shown.clientHeight, narrow: narrow.matches };
      setSeen((before) => (isSame(before, now) ? before : now));
    };
    look();
    const sizes = new ResizeObserver(look);
    sizes.observe(shown);
    shown.addEventListener("scroll", look, { passive: true });
    return () => {
      sizes.disconnect();
      shown.removeEventListener("scroll", look);
    };
  }, []);
  const rowHeight = seen.narrow ? heights.narrow : heights.wide;
  const from = Math.max(0, Math.floor(seen.top / rowHeight) - beyond);
  const to = Math.min(count, Math.ceil((seen.top + seen.height) / rowHeight) + step + beyond);
  return {
    from,
    to,
    rowHeight,
    /** Brings a row into sight, if it is not. */
    scrollTo(index: number): void {
      const shown = box.current;
      if (shown === null || index < 0) return;
      const top = index * rowHeight;
      const room = shown.clientHeight - axisHeight - rowHeight;
      if (top < shown.scrollTop) shown.scrollTop = top;
      else if (top > shown.scrollTop + room) {
        // The list may grow with this very drawing.
        requestAnimationFrame(() => {
          shown.scrollTop = top - room;
        });
      }
    },
  };
}
