import { AppError } from "../../core/errors.ts";
import type { BrowserHost } from "../../machine/browser/browser.ts";
import type { Egress } from "../../machine/egress/egress.ts";
import { decodeText } from "../page/decode.ts";
import { extractInWorker } from "../page/extract-in-worker.ts";
import { mediaKind } from "../page/media-kind.ts";
import { type Robots, userAgent } from "../page/robots.ts";
import { type Page, type ReadOptions, readRendered, wantsRendering } from "./read-rendered.ts";

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

/**
 * Reads one address. Rejects as `Egress.fetch` does, with `forbidden` by robots.txt, with
 * `unavailable` for an unsuccessful status, and with `unsupported` for content without text.
 */
export async function readPage(
  url: string,
  { egress, robots, browser }: PageDeps,
  options: ReadOptions,
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
    admit: (hop) => robots.admit(hop, signal),
  });
  const contentType = answer.headers["content-type"] ?? "";
  const mediaType = contentType.split(";")[0]?.trim() ?? "";
  if (answer.status < 200 || answer.status >= 300)
    throw new AppError("unavailable", `The server answered with status ${answer.status}.`);
  const about = { url: answer.url.href, mediaType };
  const kind = mediaKind(answer.body, contentType);
  if (kind === "image" || kind === "binary") throw withoutText(kind, mediaType, answer.body.length);
  if (kind === "text") return { ...about, title: "", text: decodeText(answer.body, contentType) };
  if (kind === "pdf") return { ...about, ...(await extractInWorker({ kind, bytes: answer.body }, timeoutMs, signal)) };
  const html = decodeText(answer.body, contentType);
  const plain = { ...about, ...(await extractInWorker({ kind, html, url: about.url }, timeoutMs, signal)) };
  return wantsRendering(plain, html, options.render) ? await readRendered(plain, browser, options) : plain;
}

function withoutText(kind: "image" | "binary", mediaType: string, bytes: number): AppError {
  const what = kind === "image" ? "an image" : "a file without text";
  return new AppError(
    "unsupported",
    `The address is ${what} (${mediaType || "of unknown type"}, ${bytes} bytes); only text can be read.`,
  );
}
