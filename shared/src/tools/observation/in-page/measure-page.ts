import type { PageDocument, PageElement, PageRect, PageWindow } from "./dom.ts";
import { type DrawnGrid, drawnGrid } from "./drawn-grid.ts";
import type { Reader } from "./reader.ts";

declare const document: PageDocument;
declare const window: PageWindow;

/**
 * The size of a document and its window's place in it, in CSS pixels. `origin` distinguishes it
 * from every other document.
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
  /**
   * Whether something larger than an icon is drawn in the window without words that describe it.
   */
  readonly isDrawn: boolean;
  /** Where in the window that is. */
  readonly grid: DrawnGrid;
};

/** Runs in the page. */
export function measurePage(reader: Reader, origin: number): PageMeasure {
  const root: PageElement = document.scrollingElement ?? document.documentElement;
  const passwords = Array.from(reader.all("input[type=password]"), ({ value }) => String(value));
  const isInView = ({ left, top, right, bottom, width, height }: PageRect, least: number) =>
    width * height >= least && right > 0 && bottom > 0 && left < window.innerWidth && top < window.innerHeight;
  const drawings = (selector: string, least: number) =>
    Array.from(reader.all(selector))
      .slice(0, 200)
      .filter((element) => isInView(reader.box(element), least));
  const drawn = [
    ...drawings("canvas,video,object,embed", 2_500),
    ...drawings("svg:not([aria-label],[aria-labelledby],:has(>title),a *,button *)", 2_500),
    ...drawings("img:not([alt]),img[alt='']", 10_000),
  ];
  return {
    origin,
    elements: reader.all("*").length,
    width: window.innerWidth,
    height: window.innerHeight,
    above: Math.round(window.scrollY),
    below: Math.max(0, Math.round(root.scrollHeight - window.innerHeight - window.scrollY)),
    passwords: passwords.filter((value) => value !== ""),
    isDrawn: drawn.length > 0,
    grid: drawnGrid(
      drawn,
      drawn.map((element) => reader.box(element)),
    ),
  };
}
