import { AppError } from "../../core/errors.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { BrowserHost } from "../../machine/browser/browser.ts";
import type { Egress } from "../../machine/egress/egress.ts";
import { extractDocument } from "../documents/extract-document.ts";
import { decodeText } from "../page/decode.ts";
import { extractInWorker } from "../page/extract-in-worker.ts";
import { type MediaKind, mediaKind } from "../page/media-kind.ts";
import { type Robots, userAgent } from "../page/robots.ts";
import { asksPassword, type Page, type PageReadOptions, readRendered, wantsRendering } from "./read-rendered.ts";

/**
 * What reading needs. Without a browser, pages are read as they are sent, without running their
 * scripts.
 */
export type PageDeps = {
  readonly egress: Egress;
  readonly robots: Robots;
  readonly browser?: Pick<BrowserHost, "render"> | undefined;
};

const maxBytes = 10_000_000;
const longestText = 1_000_000;

/**
 * Reads one address. Rejects as `Egress.fetch` does, with `forbidden` by robots.txt, with
 * `unavailable` for an unsuccessful status, and with `unsupported` for content without text.
 */
export async function readPage(
  url: string,
  { egress, robots, browser }: PageDeps,
  options: PageReadOptions,
): Promise<Page> {
  const { timeoutMs, signal } = options;
  const answer = await egress.fetch({
    url,
    headers: {
      "user-agent": userAgent,
      accept: "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5",
    },
    signal,
    timeoutMs,
    maxBytes,
    async admit(hop) {
      options.onHop?.();
      await robots.admit(hop, signal);
    },
  });
  const contentType = answer.headers["content-type"] ?? "";
  const mediaType = contentType.split(";")[0]?.trim() ?? "";
  if (answer.status < 200 || answer.status >= 300)
    throw new AppError(
      "unavailable",
      `The server answered with status ${answer.status}.${answer.status === 401 ? ` ${needsLogin(browser)}` : ""}`,
    );
  const about = { url: answer.url.href, mediaType };
  const kind = mediaKind(answer.body, contentType);
  if (isDocument(kind, answer.body)) return { ...about, ...(await readFetched(answer.body, options)) };
  if (kind === "image" || kind === "binary") throw withoutText(kind, mediaType, answer.body.length);
  if (kind === "text") return { ...about, title: "", text: decodeText(answer.body, contentType) };
  const html = decodeText(answer.body, contentType);
  const read = await extractInWorker({ html, url: about.url }, timeoutMs, signal);
  const plain = { ...about, ...read, asksPassword: asksPassword(html) };
  return wantsRendering(plain, html, options.render) ? await readRendered(plain, browser, options) : plain;
}

/** Pages are read without what a site knows a user by. */
export function needsLogin(browser: PageDeps["browser"]): string {
  const instead = ", not even where the browser is logged in. Open it there; browser_download saves files";
  return `It asks for a log-in, and none is used here${browser === undefined ? "" : instead}.`;
}

/** The starts of documents that are neither text nor pictures: zip packages and OLE files. */
const packed = ["504b0304", "d0cf11e0"];

function isDocument(kind: MediaKind, body: Uint8Array): boolean {
  return kind === "pdf" || (kind === "binary" && packed.includes(Buffer.from(body.subarray(0, 4)).toString("hex")));
}

/** A document as Markdown, as far as a page's text may go. */
async function readFetched(body: Uint8Array, { signal }: PageReadOptions): Promise<Omit<Page, "url" | "mediaType">> {
  const content = new Blob([body as Uint8Array<ArrayBuffer>]);
  const request = { name: "", from: 0, characters: longestText, scans: "name" } as const;
  const read = extractDocument(content, request, signal).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `The document cannot be read: ${error.message}`, { cause: error });
  });
  const { about, text, next } = await read;
  const note = next === undefined ? `${about}.` : `${about}; only its first ${longestText} characters were read.`;
  return { title: "", text: sanitize(text).trim(), note, document: body };
}

function withoutText(kind: "image" | "binary", mediaType: string, bytes: number): AppError {
  const what = kind === "image" ? "an image" : "a file without text";
  return new AppError(
    "unsupported",
    `The address is ${what} (${mediaType || "of unknown type"}, ${bytes} bytes); only text can be read.`,
  );
}
