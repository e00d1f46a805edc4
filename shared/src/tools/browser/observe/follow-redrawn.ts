import type { Frame, Page } from "playwright";
import { measurePage } from "../in-page/measure-page.ts";
import type { Looks } from "../looks.ts";
import { type AriaNode, nodeWith, outlinePage } from "./aria-node.ts";
import { type Document, readFrames } from "./documents.ts";
import { sameElements } from "./same-elements.ts";

type Outlined = Pick<Document, "frame" | "measure">;

/**
 * Has refs go over to what was drawn anew since the newest look, document by document, where it is the same without a doubt. `frames` by Playwright's
 * ref of their iframe. With `looked` the outline is the newest look's from now on.
 */
export function followRedrawn(
  looks: Looks,
  nodes: readonly (string | AriaNode)[],
  { main, frames, looked }: { main: Outlined; frames: ReadonlyMap<string, Outlined>; looked: boolean },
): void {
  const inFrames = [...frames].map(([ref, document]) => ({ document, nodes: nodeWith(nodes, ref)?.children ?? [] }));
  for (const { document, nodes: own } of [{ document: main, nodes }, ...inFrames]) {
    const { frame, measure } = document;
    const { origin } = measure;
    const before = looks.outlines.get(frame);
    const now = { origin, url: frame.url(), nodes: own };
    const same = before?.origin === origin && before.url === now.url ? sameElements(before.nodes, own) : [];
    for (const successor of same) looks.refs.follow({ frame, origin }, successor);
    if (looked || same.length > 0) looks.outlines.set(frame, now);
  }
}

/** The same right now, without a look. */
export async function followNow(page: Page, looks: Looks, frame: Frame, timeoutMs: number): Promise<void> {
  const nodes = await outlinePage(page, timeoutMs);
  const measure = await page.evaluate(measurePage);
  const frames = frame === page.mainFrame() ? new Map<string, Document>() : await readFrames(page, nodes);
  followRedrawn(looks, nodes, { main: { frame: page.mainFrame(), measure }, frames, looked: false });
}
