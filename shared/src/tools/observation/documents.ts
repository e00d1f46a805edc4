import type { ElementHandle, Frame, Page } from "playwright";
import type { AriaNode } from "./aria-node.ts";
import { type FieldFacts, fieldFormats, findFields } from "./in-page/find-fields.ts";
import { measurePage, type PageMeasure } from "./in-page/measure-page.ts";
import { unseenTextOf } from "./unseen-text.ts";

const mostFrames = 12;

/** A document that is looked at, with what its outline lacks. */
export type Document = {
  readonly frame: Frame;
  readonly measure: PageMeasure;
  readonly unseen: readonly string[];
  readonly fields: readonly FieldFacts[];
};

/**
 * The documents inside a page's iframes, by Playwright's ref of the iframe; those that do not
 * answer at once are left out.
 */
export async function readFrames(
  page: Page,
  nodes: readonly (string | AriaNode)[],
): Promise<ReadonlyMap<string, Document>> {
  const refs = iframesIn(nodes).slice(0, mostFrames);
  const found = await Promise.all(
    refs
      .map(async (ref) => {
        const handle = (await page.$(`aria-ref=${ref}`)) as ElementHandle | null;
        const frame = await handle?.contentFrame();
        if (!frame) return undefined;
        const [measure, unseen, fields] = await Promise.all([
          frame.evaluate(measurePage),
          unseenTextOf(frame),
          frame.evaluate(findFields, fieldFormats),
        ]);
        return [ref, { frame, measure, unseen, fields }] as const;
      })
      .map((reading) => reading.catch(() => undefined)),
  );
  return new Map(found.filter((one) => one !== undefined));
}

function iframesIn(nodes: readonly (string | AriaNode)[]): string[] {
  return nodes.flatMap((node) => {
    if (typeof node === "string") return [];
    const own = node.role === "iframe" && node.ref !== undefined && node.children !== undefined ? [node.ref] : [];
    return [...own, ...iframesIn(node.children ?? [])];
  });
}
