import type { Frame } from "playwright";
import type { AriaNode } from "./aria-node.ts";
import type { DocumentLook } from "./in-page/start-looking.ts";
import { elementNumbered, lookIn } from "./looking.ts";

/** A document that is looked at, with those in its iframes by the numbers of these. */
export type Document = DocumentLook & { readonly frame: Frame; readonly inner: ReadonlyMap<number, Document> };

const maxDrawn = 90;
const maxFrames = 12;
const frameMs = 3_000;

/**
 * A page's document, with those of its frames that answer soon. What has the text to `find` is in
 * it, however large the page is.
 */
export async function readDocuments(
  frame: Frame,
  { timeoutMs, find }: { readonly timeoutMs: number; readonly find?: string | undefined },
): Promise<Document> {
  let left = maxFrames;
  const read = async (within: Frame, drawn: number, withinMs: number): Promise<Document> => {
    const look = await lookIn(within, { maxDrawn: drawn, find: find?.toLowerCase() }, withinMs);
    const numbers = iframesIn(look.nodes).slice(0, left);
    left -= numbers.length;
    const found = await Promise.all(
      numbers
        .map(async (number) => {
          const inner = await (await elementNumbered(within, number))?.contentFrame();
          return inner ? ([number, await read(inner, 0, Math.min(frameMs, withinMs))] as const) : undefined;
        })
        .map((reading) => reading.catch(() => undefined)),
    );
    return { ...look, frame: within, inner: new Map(found.filter((one) => one !== undefined)) };
  };
  return await read(frame, maxDrawn, timeoutMs);
}

/** A document and all within it. */
export function allDocuments(document: Document): Document[] {
  return [document, ...[...document.inner.values()].flatMap(allDocuments)];
}

function iframesIn(nodes: readonly (string | AriaNode)[]): number[] {
  return nodes.flatMap((node) => {
    if (typeof node === "string") return [];
    if (node.role === "iframe") return node.ref ?? [];
    return iframesIn(node.children ?? []);
  });
}
