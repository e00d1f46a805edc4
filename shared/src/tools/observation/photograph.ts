import type { Page } from "playwright";
import type { ImagePart } from "../../core/model.ts";
import type { Browsing } from "../../machine/browser/browser.ts";
import type { SnapshotState } from "./elements/snapshot-state.ts";
import type { DrawnGrid } from "./in-page/drawn-grid.ts";
import { type PictureCells, picturedCells } from "./picture-cells.ts";

/** The longest side of an image for a model, in pixels. */
const maxPixels = 1_280;
const quality = 50;
const photographMs = 8_000;

/** A picture of the window, and what it shows where something is drawn. */
export type Photograph = { readonly image: ImagePart; readonly cells: PictureCells | undefined };

/**
 * The window as a JPEG of at most 1280 pixels a side, one pixel for each CSS pixel unless the
 * window is larger. Undefined when a dialog blocks the page or the page cannot be drawn in time: a
 * look without an image is still useful.
 */
export async function photograph(
  browsing: Browsing,
  looks: SnapshotState,
  grid: DrawnGrid,
  signal: AbortSignal,
): Promise<Photograph | undefined> {
  const taken = await browsing.act(
    async (page) => {
      const data = await windowJpeg(page, looks).catch(() => undefined);
      return data === undefined ? undefined : { data, cells: await cellsOf(page, grid).catch(() => undefined) };
    },
    { signal, timeoutMs: 2 * photographMs + 2_000 },
  );
  if (taken === undefined) return undefined;
  return { image: { type: "image", mediaType: "image/jpeg", data: taken.data }, cells: taken.cells };
}

async function cellsOf(page: Page, grid: DrawnGrid): Promise<PictureCells | undefined> {
  return picturedCells(await page.screenshot({ type: "png", scale: "css", timeout: photographMs }), grid);
}

async function windowJpeg(page: Page, looks: SnapshotState): Promise<string> {
  const size = page.viewportSize() ?? { width: maxPixels, height: 720 };
  const scale = Math.min(1, maxPixels / Math.max(size.width, size.height));
  looks.scale = { page, factor: 1 / scale };
  if (scale === 1) {
    const bytes = await page.screenshot({ type: "jpeg", quality, scale: "css", timeout: photographMs });
    return bytes.toString("base64");
  }
  return smallerJpeg(page, size, scale);
}

/** Playwright cannot take a screenshot smaller than the window; Chromium itself can. */
async function smallerJpeg(page: Page, size: { width: number; height: number }, scale: number): Promise<string> {
  const session = await page.context().newCDPSession(page);
  try {
    const { cssVisualViewport } = await session.send("Page.getLayoutMetrics");
    const clip = { x: cssVisualViewport.pageX, y: cssVisualViewport.pageY, ...size, scale };
    return (await session.send("Page.captureScreenshot", { format: "jpeg", quality, clip })).data;
  } finally {
    await session.detach().catch(() => undefined);
  }
}
