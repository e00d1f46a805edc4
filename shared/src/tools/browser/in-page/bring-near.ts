import type { PageElement } from "./dom.ts";

/** Runs in the page, on an element: scrolls to it where it is not in view. Answers whether an animation that never ends may keep it moving. */
export function bringNear(element: PageElement): boolean {
  element.scrollIntoViewIfNeeded?.();
  for (let one: PageElement | null = element; one !== null; one = one.parentElement)
    for (const { playState, effect } of one.getAnimations())
      if (playState === "running" && effect?.getTiming().iterations === Number.POSITIVE_INFINITY) return true;
  return false;
}
