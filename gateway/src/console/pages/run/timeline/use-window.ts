import { useLayoutEffect, useState } from "preact/hooks";

/** Rows in the document above and below those that are seen. */
const beyond = 20;
const narrow = matchMedia("(max-width: 760px)");
const heights = { wide: 27, narrow: 44 };
/** The row above the list that stays when it scrolls. */
const axisHeight = 30;

/** Which rows of a long list are in the document, by where its box is scrolled to. */
export function useWindow(box: { readonly current: HTMLElement | null }, count: number) {
  const [seen, setSeen] = useState({ top: 0, height: 800, narrow: narrow.matches });
  useLayoutEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    const look = () => setSeen({ top: shown.scrollTop, height: shown.clientHeight, narrow: narrow.matches });
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
  const to = Math.min(count, Math.ceil((seen.top + seen.height) / rowHeight) + beyond);
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
