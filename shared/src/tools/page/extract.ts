import { removeHidden } from "./remove-hidden.ts";

/** The input of a page worker. `whole` keeps all of a page rather than its main part. */
export type ExtractRequest = { readonly html: string; readonly url: string; readonly whole?: boolean };

/** The readable part of a document as Markdown. */
export type Extract = { readonly title: string; readonly text: string };

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

/**
 * The main part of a page as Markdown, with absolute links. The libraries are loaded at first use.
 */
export async function extract({ html, url, whole }: ExtractRequest): Promise<Extract> {
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
