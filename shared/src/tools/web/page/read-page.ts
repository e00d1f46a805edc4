import type { Egress } from "../../../egress/egress.ts";
import { AppError } from "../../../errors.ts";
import { decodeText } from "./decode.ts";
import { extractApart } from "./extract-apart.ts";
import { mediaKind } from "./media-kind.ts";
import { type Robots, userAgent } from "./robots.ts";

/** A document of the web as a model can read it. */
export type Page = {
  /** Where it came from in the end. */
  readonly url: string;
  readonly title: string;
  readonly mediaType: string;
  /** Markdown of HTML, the text of a PDF, anything else that is text as it is. */
  readonly text: string;
  readonly pages?: number;
};

/** What reading needs. */
export type PageDeps = { readonly egress: Egress; readonly robots: Robots };

const maxBytes = 10_000_000;

/**
 * Reads one address. Rejects as `Egress.fetch` does, with `forbidden` by robots.txt, with `unavailable` for a status that is no success,
 * and with `unsupported` for what has no text.
 */
export async function readPage(
  url: string,
  { egress, robots }: PageDeps,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Page> {
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
  const request =
    kind === "pdf"
      ? ({ kind, bytes: answer.body } as const)
      : ({ kind, html: decodeText(answer.body, contentType), url: about.url } as const);
  return { ...about, ...(await extractApart(request, timeoutMs, signal)) };
}

function withoutText(kind: "image" | "binary", mediaType: string, bytes: number): AppError {
  const what = kind === "image" ? "an image" : "a file without text";
  return new AppError(
    "unsupported",
    `The address is ${what} (${mediaType || "of unknown type"}, ${bytes} bytes); only text can be read.`,
  );
}
