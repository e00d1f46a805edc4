import { removeHidden } from "./remove-hidden.ts";

type HtmlRequest = { readonly kind: "html"; readonly html: string; readonly url: string; readonly whole?: boolean };

/**
 * The input of a page worker: HTML as text or a PDF as bytes. `whole` keeps all of a page rather
 * than its main part.
 */
export type ExtractRequest = HtmlRequest | { readonly kind: "pdf"; readonly bytes: Uint8Array };

/** The readable part of a document as Markdown or text. */
export type Extract = { readonly title: string; readonly text: string; readonly pages?: number };

/**
 * The main part of a page as Markdown, with absolute links; for a PDF, its text. The libraries are
 * loaded at first use.
 */
export async function extract(request: ExtractRequest): Promise<Extract> {
  return request.kind === "html" ? extractHtml(request) : extractPdf(request.bytes);
}

/** Keeps what is usually left out as not part of the article: menus, lists, short sections. */
const everything = {
  contentSelector: "body",
  removeExactSelectors: false,
  removePartialSelectors: false,
  removeHiddenElements: false,
  removeLowScoring: false,
  removeContentPatterns: false,
  includeReplies: true,
};

async function extractHtml({ html, url, whole }: HtmlRequest): Promise<Extract> {
  const [{ parseHTML }, { Defuddle }] = await Promise.all([import("linkedom"), import("defuddle/node")]);
  const { document } = parseHTML(completed(html));
  // The whole of a page comes from a browser, which knows better what is visible.
  if (whole !== true) removeHidden(document);
  // Without `useAsync: false` it would query other services about the page, bypassing the egress
  // policy.
  const { content, title } = await Defuddle(document, url, {
    markdown: true,
    useAsync: false,
    removeImages: true,
    ...(whole && everything),
  });
  return { title: title.trim(), text: content.trim() };
}

/** The HTML with a root element, which the parser requires. */
function completed(html: string): string {
  if (/<html[\s>]/i.test(html)) return html;
  return /<body[\s>]/i.test(html) ? `<html>${html}</html>` : `<html><head></head><body>${html}</body></html>`;
}

async function extractPdf(bytes: Uint8Array): Promise<Extract> {
  const { extractText, getDocumentProxy, getMeta } = await import("unpdf");
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const { totalPages, text } = await extractText(document, { mergePages: false });
  const { info } = await getMeta(document);
  const title: unknown = info.Title;
  const pages = text.map((page, index) => `[page ${index + 1}]\n${page.trim()}`);
  return { title: typeof title === "string" ? title.trim() : "", text: pages.join("\n\n"), pages: totalPages };
}
