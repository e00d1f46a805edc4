import { AppError } from "../../../core/errors.ts";
import type { ImagePart } from "../../../core/model.ts";
import { counted } from "../../../core/text/counted.ts";
import type { ToolContext } from "../../../core/tools/tool.ts";
import type { BrowserHost } from "../../../machine/browser/browser.ts";
import { extractDocument } from "../extract-document.ts";

const printMs = 60_000;
/** Pages of what was written that the model is shown. */
const shownPages = 2;
/** A page with more characters, its pictures among them, is not drawn. */
const longestPage = 40_000_000;

/** What prints a page; undefined where there is no browser. */
export type Printer = Pick<BrowserHost, "print"> | undefined;

/** What looking at a document gave. */
export type Look = {
  /**
   * What it is when it is printed, such as `PDF, 2 pages, 3 lines on the second`; undefined where
   * that is not known.
   */
  readonly about: string | undefined;
  readonly images: readonly ImagePart[];
  /** Which pages the model sees, and what they are; or why it sees none. */
  readonly told: string;
};

/** Prints a page that loads and runs nothing, as a PDF. Rejects as `BrowserHost.print` does. */
export async function printPage(page: string, browser: NonNullable<Printer>, signal: AbortSignal): Promise<Uint8Array> {
  return await browser.print(page, { signal, timeoutMs: printMs });
}

type LookContext = Pick<ToolContext, "signal" | "vision">;

/**
 * The first pages of a PDF as pictures; `as` says what those pages are. A document that cannot be
 * looked at is written all the same, so this rejects with the signal's reason only.
 */
export async function lookAtPdf(pdf: Uint8Array, as: string, { signal, vision }: LookContext): Promise<Look> {
  const scans = vision === false ? "name" : "draw";
  const request = { name: "printed.pdf", part: `1-${shownPages}`, from: 0, characters: 100_000, scans } as const;
  try {
    const {
      about: kind,
      text,
      pictures,
    } = await extractDocument(new Blob([pdf as Uint8Array<ArrayBuffer>]), request, signal);
    const about = withSecondPage(kind, text);
    if (vision === false) return { ...unseen(blind), about };
    if (pictures.length === 0) return { ...unseen("its first pages are empty"), about };
    const pages = pictures.length === 1 ? "page" : `${pictures.length} pages`;
    const images = pictures.map((one): ImagePart => ({ type: "image", ...one }));
    return { about, images, told: `You see the first ${pages} ${as}.` };
  } catch (error) {
    return failed(error, signal);
  }
}

/** How much stands on the second page of two: what is to fit one page may be over it by little. */
function withSecondPage(about: string, text: string): string {
  const [, second] = /\n\[page 2\]\n([\s\S]*)$/.exec(text) ?? [];
  if (second === undefined || !about.endsWith(" 2 pages")) return about;
  const lines = second.split("\n").filter((line) => line.trim() !== "").length;
  return `${about}, ${counted(lines, "line")} on the second`;
}

/** The same of HTML, which is made and printed only where its pages can be seen. */
export async function lookAtPage(
  makePage: () => string | Promise<string>,
  as: string,
  browser: Printer,
  context: LookContext,
): Promise<Look> {
  if (browser === undefined) return unseen("there is no browser here that draws it");
  if (context.vision === false) return unseen(blind);
  try {
    const page = await makePage();
    if (page.length > longestPage) return unseen("it is too large to be drawn");
    return await lookAtPdf(await printPage(page, browser, context.signal), as, context);
  } catch (error) {
    return failed(error, context.signal);
  }
}

const blind = "you do not see pictures";

function unseen(why: string): Look {
  return { about: undefined, images: [], told: `How it looks was not checked: ${why}.` };
}

function failed(error: unknown, signal: AbortSignal): Look {
  signal.throwIfAborted();
  return unseen(`it could not be drawn${error instanceof AppError ? ` (${error.message.replace(/\.$/, "")})` : ""}`);
}
