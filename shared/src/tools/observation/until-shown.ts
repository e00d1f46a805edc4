import type { Frame, Page } from "playwright";
import { signOfLoading } from "./in-page/settling/sign-of-loading.ts";
import { type QuietPage, waitForQuiet } from "./in-page/settling/wait-for-quiet.ts";

const pollMs = 120;
/** A list that timers draw grows by an entry at a time. */
const growing: QuietPage = { quietMs: 350, maxMs: 2_000 };
/** Frames of a page that are looked into, and how large one is that shows something. */
const maxFrames = 6;
const leastSide = 40;

/**
 * Waits while a page, or a frame of it that is seen, shows that it is still loading, at most so
 * long, and not for the sign of `lasting`, which was waited for before; returns what still says so,
 * or "". Fails for no page.
 */
export async function untilShown(
  page: Page,
  { signal, maxMs, lasting = "" }: { readonly signal: AbortSignal; readonly maxMs: number; readonly lasting?: string },
): Promise<string> {
  const until = performance.now() + maxMs;
  const frames = await seenFrames(page);
  const look = async () => {
    const signs = await Promise.all(frames.map((frame) => frame.evaluate(signOfLoading).catch(() => "")));
    return signs.find((sign) => sign !== "") ?? "";
  };
  const first = await look();
  let sign = first;
  while (sign !== "" && sign !== lasting && performance.now() < until) {
    signal.throwIfAborted();
    await Bun.sleep(pollMs);
    sign = await look();
  }
  if (first !== "" && sign === "") await page.evaluate(waitForQuiet, growing).catch(() => undefined);
  return sign;
}

/** The page's own frame, and those of its others that are large enough and in the window. */
async function seenFrames(page: Page): Promise<readonly Frame[]> {
  const main = page.mainFrame();
  const others = page.frames().filter((frame) => frame.parentFrame() === main);
  const seen = await Promise.all(
    others.slice(0, maxFrames).map(async (frame) => ((await isSeen(page, frame)) ? [frame] : [])),
  );
  return [main, ...seen.flat()];
}

async function isSeen(page: Page, frame: Frame): Promise<boolean> {
  try {
    const box = await (await frame.frameElement()).boundingBox();
    const size = page.viewportSize();
    if (box === null || Math.min(box.width, box.height) < leastSide) return false;
    return (
      size === null || (box.y < size.height && box.y + box.height > 0 && box.x < size.width && box.x + box.width > 0)
    );
  } catch {
    return false;
  }
}
