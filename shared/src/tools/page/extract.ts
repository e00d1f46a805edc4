import { beginningOf } from "./beginning-of.ts";
import { removeHidden } from "./remove-hidden.ts";

/** The input of a page worker. `whole` keeps all of a page rather than its main part. */
export type ExtractRequest = { readonly html: string; readonly url: string; readonly whole?: boolean };

/** The readable part of a document as Markdown; `note` says if that is not of all of it. */
export type Extract = { readonly title: string; readonly text: string; readonly note?: string };

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
  const beginning = beginningOf(html);
  const { document } = parseHTML(completed(beginning));
  // The whole of a page comes from a browser, which knows better what is visible.
  if (whole !== true) removeHidden(document);
  guardDates(document as unknown as Document);
  // Without `useAsync: false` it would query other services about the page, bypassing the egress
  // policy.
  const { content, title } = await Defuddle(document, url, {
    markdown: true,
    useAsync: false,
    removeImages: true,
    ...(whole && everything),
  });
  const isCut = beginning.length < html.length;
  return { title: title.trim(), text: content.replaceAll(guard, "").trim(), ...(isCut && { note: tooMany }) };
}

const tooMany = "It has more elements than are read: this is its beginning.";

type Node = { readonly nodeType: number; textContent: string | null; readonly childNodes: Iterable<Node> };
type Element = Node & { readonly nextElementSibling: Element | null };
type Document = { querySelectorAll(selector: string): Iterable<Element> };

/** A character without width or meaning. */
const guard = "\u2060";
const siblingsLookedAt = 3;
const longestByline = 300;

/**
 * Hides the dates after a page's heading from Defuddle. It takes a short text with a date there for
 * a byline and leaves it out, which may be all that a page says: "Opened on 3 June 1931 by …".
 */
function guardDates(document: Document): void {
  for (const heading of document.querySelectorAll("h1")) {
    let sibling = heading.nextElementSibling;
    for (let count = 0; sibling !== null && count < siblingsLookedAt; count++) {
      if ((sibling.textContent ?? "").trim().length < longestByline) guardNumbers(sibling);
      sibling = sibling.nextElementSibling;
    }
  }
}

function guardNumbers(node: Node): void {
  for (const child of node.childNodes)
    if (child.nodeType === 3) child.textContent = (child.textContent ?? "").replace(/\d+/g, `${guard}$&`);
    else guardNumbers(child);
}

/** The HTML with a root element, which the parser requires. */
function completed(html: string): string {
  if (/<html[\s>]/i.test(html)) return html;
  return /<body[\s>]/i.test(html) ? `<html>${html}</html>` : `<html><head></head><body>${html}</body></html>`;
}
