import type { PageElement, PageRect, PageWindow } from "./dom.ts";

declare const window: PageWindow;
declare const document: { elementFromPoint(x: number, y: number): PageElement | null };

/**
 * The window in cells, and the numbers of those where something is drawn that nothing lies over.
 */
export type DrawnGrid = { readonly columns: number; readonly rows: number; readonly cells: readonly number[] };

/** Runs in the page, or outside of it: the pixels of a column or row of a grid. */
export function bandOf(index: number, count: number, length: number): [from: number, to: number] {
  return [Math.ceil((index * length) / count), Math.floor(((index + 1) * length) / count)];
}

/** Runs in the page: where in the window these elements are drawn. */
export function drawnGrid(elements: readonly PageElement[], boxes: readonly PageRect[]): DrawnGrid {
  const [columns, rows] = [24, 15];
  const cells: number[] = [];
  const isOver = (x: number, y: number) => {
    const top = document.elementFromPoint(x, y);
    return elements.some((element) => element === top || element.contains(top));
  };
  for (let cell = 0; cell < columns * rows && elements.length > 0; cell++) {
    const [left, right] = bandOf(cell % columns, columns, window.innerWidth);
    const [top, bottom] = bandOf(Math.floor(cell / columns), rows, window.innerHeight);
    const isWithin = boxes.some(
      (box) => box.left <= left && box.right >= right && box.top <= top && box.bottom >= bottom,
    );
    if (!isWithin) continue;
    const corners = [left + 1, right - 2].flatMap((x) => [top + 1, bottom - 2].map((y) => [x, y] as const));
    if ([...corners, [(left + right) / 2, (top + bottom) / 2] as const].every(([x, y]) => isOver(x, y)))
      cells.push(cell);
  }
  return { columns, rows, cells };
}
