import type { PageDocument, PageElement, PageWindow } from "./dom.ts";

declare const document: PageDocument;
declare const window: PageWindow;

/**
 * The size of a document and its window's place in it, in CSS pixels. `origin` distinguishes it
 * from every other document of its frame.
 */
export type PageMeasure = {
  readonly origin: number;
  readonly elements: number;
  readonly width: number;
  readonly height: number;
  readonly above: number;
  readonly below: number;
  /** The values of its password fields: never shown. */
  readonly passwords: readonly string[];
};

/** Runs in the page. */
export function measurePage(): PageMeasure {
  const root: PageElement = document.scrollingElement ?? document.documentElement;
  const passwords = Array.from(document.querySelectorAll("input[type=password]"), ({ value }) => String(value));
  return {
    origin: window.performance.timeOrigin,
    elements: document.getElementsByTagName("*").length,
    width: window.innerWidth,
    height: window.innerHeight,
    above: Math.round(window.scrollY),
    below: Math.max(0, Math.round(root.scrollHeight - window.innerHeight - window.scrollY)),
    passwords: passwords.filter((value) => value !== ""),
  };
}
