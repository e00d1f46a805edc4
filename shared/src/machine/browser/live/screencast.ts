import type { Page } from "playwright";
import type { LiveFrame } from "../../../core/live-page.ts";

/** At most eight pictures a second, within this size, none larger than a megabyte as base64. */
const everyMs = 125;
const size = { maxWidth: 1_280, maxHeight: 1_280 };
const quality = 60;
const maxCharacters = 1_400_000;

/**
 * Sends pictures of a page whenever it changes; the browser draws the next one only after the last
 * was acknowledged. Returns what ends it.
 */
export async function startScreencast(page: Page, onFrame: (frame: LiveFrame) => void): Promise<() => void> {
  const session = await page.context().newCDPSession(page);
  let isOver = false;
  session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
    if (!isOver && data.length <= maxCharacters)
      onFrame({ frame: data, width: Math.round(metadata.deviceWidth), height: Math.round(metadata.deviceHeight) });
    const acknowledge = () => session.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined);
    setTimeout(() => isOver || void acknowledge(), everyMs).unref();
  });
  await session.send("Page.startScreencast", { format: "jpeg", quality, ...size });
  return () => {
    isOver = true;
    session
      .send("Page.stopScreencast")
      .then(() => session.detach())
      .catch(() => undefined);
  };
}
