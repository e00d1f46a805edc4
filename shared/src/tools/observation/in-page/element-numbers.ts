import type { PageElement } from "./dom.ts";

/**
 * The elements of a document by number. An element keeps its number for as long as it keeps its
 * role and its name. Exists in the page as long as the document.
 */
export type ElementNumbers = {
  of(element: PageElement, role: string, name: string): number;
  /** What has a number, and what it was when it got it. */
  at(number: number): NumberedElement | undefined;
};

/** An element with what it was called when it got its number. */
export type NumberedElement = { readonly element: PageElement; readonly role: string; readonly name: string };

/** Runs in the page: creates `ElementNumbers`. */
export function openNumbers(): ElementNumbers {
  type Known = { readonly role: string; readonly name: string; readonly number: number };
  const known = new WeakMap<PageElement, Known>();
  const numbered = new Map<number, Known & { readonly weak: WeakRef<PageElement> }>();
  const most = 200_000;
  let last = 0;
  return {
    of(element, role, name) {
      const found = known.get(element);
      if (found !== undefined && found.role === role && found.name === name) return found.number;
      last += 1;
      const now = { role, name, number: last };
      known.set(element, now);
      numbered.set(last, { ...now, weak: new WeakRef(element) });
      numbered.delete(last - most);
      return last;
    },
    at(number) {
      const found = numbered.get(number);
      const element = found?.weak.deref();
      return found === undefined || element === undefined ? undefined : { ...found, element };
    },
  };
}
