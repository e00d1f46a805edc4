import type { PageElement, PageWindow } from "./dom.ts";

declare const window: PageWindow;

/** An element that is about to be acted on. */
export type Near = {
  /**
   * Which of its labels can be clicked in its place, since it cannot: pages hide the boxes that
   * they draw anew. -1 when it can be clicked itself.
   */
  readonly label: number;
  /** Whether an endless animation may keep it moving. */
  readonly moves: boolean;
  /**
   * Where it is in the browser's window; undefined inside a frame, which does not know its place in
   * the window, and for an element without a size.
   */
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number } | undefined;
};

/**
 * Runs in the page, on an element: scrolls to it when it is out of view, and returns where it is
 * now.
 */
export function bringNear(element: PageElement): Near {
  element.scrollIntoViewIfNeeded?.();
  const { left, top, width, height } = element.getBoundingClientRect();
  const box = window.top === window && width * height > 0 ? { x: left, y: top, width, height } : undefined;
  const isOnTop = (one: PageElement) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return one.contains(element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2));
  };
  const labels = Array.from(element.labels ?? []);
  const label = labels.length === 0 || isOnTop(element) ? -1 : labels.findIndex(isOnTop);
  for (let one: PageElement | null = element; one !== null; one = one.parentElement)
    for (const { playState, effect } of one.getAnimations())
      if (playState === "running" && effect?.getTiming().iterations === Number.POSITIVE_INFINITY)
        return { moves: true, box, label };
  return { moves: false, box, label };
}

/** Runs in the page, on an element: one of its labels. */
export function labelNumbered(element: PageElement, index: number): PageElement | undefined {
  return element.labels?.[index];
}
