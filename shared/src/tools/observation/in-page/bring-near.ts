import type { PageElement, PageWindow } from "./dom.ts";

declare const window: PageWindow;

/** An element that is about to be acted on. */
export type Near = {
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
  for (let one: PageElement | null = element; one !== null; one = one.parentElement)
    for (const { playState, effect } of one.getAnimations())
      if (playState === "running" && effect?.getTiming().iterations === Number.POSITIVE_INFINITY)
        return { moves: true, box };
  return { moves: false, box };
}
