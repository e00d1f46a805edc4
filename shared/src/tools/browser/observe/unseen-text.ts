import type { Frame, JSHandle, Page } from "playwright";
import type { ElementList } from "../in-page/element-list.ts";
import { openEye } from "../in-page/eye.ts";
import { findUnseenText } from "../in-page/find-unseen-text.ts";
import { openPalette } from "../in-page/palette.ts";

/** The texts of a document, or of some of its elements, that no person could see. */
export async function unseenTextOf(
  document: Page | Frame,
  among?: { readonly list: JSHandle<ElementList>; readonly numbers: readonly number[] },
): Promise<string[]> {
  const palette = await document.evaluateHandle(openPalette);
  const eye = await palette.evaluateHandle(openEye);
  try {
    return await eye.evaluate(findUnseenText, among);
  } finally {
    for (const handle of [eye, palette]) void handle.dispose().catch(() => undefined);
  }
}
