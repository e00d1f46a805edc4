import type { Frame, Page } from "playwright";
import { copyVisible, type VisibleCopy } from "../../observation/in-page/copy-visible.ts";
import { unseenTextOf } from "../../observation/looking.ts";
import { extractInWorker } from "../../page/extract-in-worker.ts";

/** The whole of a page as a reader sees it: Markdown, or plain text when it cannot be converted. */
export type WholePage = { readonly url: string; readonly title: string; readonly text: string };

const longestHtml = 8_000_000;
const maxFrames = 8;
const extractMs = 15_000;
/** If it holds less than this share of the readable text, the Markdown has lost something. */
const enough = 0.7;

/**
 * The content of the page and its frames, copied within the page: rejects as the page's own calls
 * do.
 */
export async function copyPage(page: Page): Promise<{ readonly url: string; readonly copies: readonly VisibleCopy[] }> {
  const frames = [page.mainFrame(), ...page.frames().filter((frame) => frame !== page.mainFrame())];
  const copies = await Promise.all(frames.slice(0, maxFrames).map((frame) => copyFrame(frame, page)));
  return { url: page.url(), copies: copies.filter((copy) => copy !== undefined) };
}

/**
 * A frame that cannot be read, or is not shown, is left out; for the page itself, the error is
 * thrown.
 */
async function copyFrame(frame: Frame, page: Page): Promise<VisibleCopy | undefined> {
  const reading = async () => {
    if (frame !== page.mainFrame() && !(await (await frame.frameElement()).isVisible())) return undefined;
    return frame.evaluate(copyVisible, await unseenTextOf(frame));
  };
  return frame === page.mainFrame() ? reading() : reading().catch(() => undefined);
}

/** The copies joined into one text. */
export async function readCopies(
  { url, copies }: Awaited<ReturnType<typeof copyPage>>,
  signal: AbortSignal,
): Promise<WholePage> {
  const parts: { title: string; text: string }[] = [];
  for (const copy of copies) parts.push(await readCopy(copy, url, signal));
  const text = parts.map((part) => part.text).filter((part) => part !== "");
  return { url, title: parts[0]?.title ?? "", text: text.join("\n\n") };
}

async function readCopy(
  { html, text }: VisibleCopy,
  url: string,
  signal: AbortSignal,
): Promise<{ title: string; text: string }> {
  if (html.length > longestHtml) return { title: "", text };
  try {
    const whole = await extractInWorker({ html, url, whole: true }, extractMs, signal);
    return whole.text.length >= text.length * enough ? whole : { title: whole.title, text };
  } catch {
    signal.throwIfAborted();
    return { title: "", text };
  }
}
