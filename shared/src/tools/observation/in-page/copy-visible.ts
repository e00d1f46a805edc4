/** The parts of the DOM that copying a page needs. */
interface Node {
  readonly nodeType: number;
  readonly nodeValue: string | null;
  readonly childNodes: ArrayLike<Node>;
  cloneNode(deep: boolean): Node;
  remove(): void;
}
interface Element extends Node {
  readonly tagName: string;
  readonly outerHTML: string;
  readonly innerText?: string;
  checkVisibility(options: { opacityProperty: boolean; visibilityProperty: boolean }): boolean;
}
declare const document: { readonly documentElement: Element; readonly body: Element | null };

/** A document's HTML and text without the parts that nobody could see. */
export type VisibleCopy = { readonly html: string; readonly text: string };

/**
 * Runs in the page: copies the document without scripts, comments, elements that are not visible,
 * and texts that are among `unseen`. Changes nothing in the page.
 */
export function copyVisible(unseen: readonly string[]): VisibleCopy {
  const hidden = new Set(unseen);
  const plain = (text: string | null) => (text ?? "").replace(/[\s\u200b]+/g, " ").trim();
  const dropped = /^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE|META|LINK|IFRAME|OBJECT|EMBED)$/i;
  const unrendered = /^(?:HTML|HEAD|TITLE|BASE|BODY|BR|WBR|OPTION|OPTGROUP|SOURCE|COL|AREA|MAP)$/i;
  const isDropped = (node: Node) => {
    if (node.nodeType === 3) return hidden.has(plain(node.nodeValue));
    if (node.nodeType !== 1) return true;
    const element = node as Element;
    if (dropped.test(element.tagName)) return true;
    if (unrendered.test(element.tagName)) return false;
    return !element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const copy = document.documentElement.cloneNode(true) as Element;
  const waiting: (readonly [Node, Node])[] = [[document.documentElement, copy]];
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const [from, to] = pair;
    const copies = Array.from(to.childNodes);
    for (const [index, child] of Array.from(from.childNodes).entries()) {
      const twin = copies[index];
      if (twin === undefined) continue;
      if (isDropped(child)) twin.remove();
      else if (child.nodeType === 1) waiting.push([child, twin]);
    }
  }
  // biome-ignore lint/performance/useDomNodeTextContent: what is laid out, line by line, is what a reader sees.
  const lines = (document.body?.innerText ?? "").split("\n").filter((line) => !hidden.has(plain(line)));
  return {
    html: copy.outerHTML,
    text: lines
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim(),
  };
}
