import type { Frame, Page } from "playwright";
import { type FoundElement, findElement } from "../find-element.ts";
import { type Changes, endWatch, watchChanges } from "../in-page/watch-changes.ts";
import type { Hand } from "./browser-tool.ts";
import { explainFailure } from "./explain-failure.ts";
import { followUp, placeOf } from "./follow-up.ts";

/** How long one act on an element may take, in milliseconds: waiting until it can be acted on included. */
export const actMs = 4_000;
/** How long a page without any change is watched before that is told. */
const changesWithinMs = 250;

/** Says what is being done, in the past tense; the last sentence said is the result's first. */
export type Say = (sentence: string) => void;

/**
 * Does something on the active page with the elements of some refs, which are found first, and tells what was done and what followed by itself:
 * another address, a tab, a dialog, a download, or that nothing changed.
 */
export async function perform(
  hand: Hand,
  options: { readonly refs?: readonly string[]; readonly timeoutMs?: number; readonly watched?: boolean },
  work: (page: Page, elements: readonly FoundElement[], say: Say) => Promise<void>,
): Promise<string> {
  const { browsing, looks, context } = hand;
  const { refs = [], timeoutMs = actMs, watched = true } = options;
  const before = placeOf(browsing);
  let said = "";
  looks.restless = true;
  const changes = await browsing.act(
    async (page) => {
      const frame = looks.refs.get(refs[0] ?? "")?.frame ?? page.mainFrame();
      const watching = watched ? startWatch(frame) : undefined;
      const elements = await findElements(hand, page, refs).catch((error: unknown) => {
        void watching?.then((stop) => stop?.());
        throw error;
      });
      const end = await watching;
      try {
        await work(page, elements, (sentence) => {
          said = sentence;
        });
      } catch (error) {
        await end?.();
        throw await explainFailure(error, elements);
      }
      return end === undefined ? gone : await end();
    },
    // The elements' own limit is the shorter one, so that the reason is known when it is hit.
    { signal: context.signal, timeoutMs: timeoutMs + 3_000 },
  );
  return [said, ...(await followUp(hand, before, changes))].join(" ");
}

async function findElements({ browsing, looks }: Hand, page: Page, refs: readonly string[]): Promise<FoundElement[]> {
  const found: FoundElement[] = [];
  for (const ref of refs) found.push(await findElement(browsing, looks, page, ref));
  return found;
}

/** A document that is gone has changed. */
const gone: Changes = { changed: true, copied: false, said: [] };

/** Begins to watch a document, and answers how to end it: with what came of it. */
async function startWatch(frame: Frame): Promise<(() => Promise<Changes>) | undefined> {
  const watch = await frame.evaluateHandle(watchChanges).catch(() => undefined);
  if (watch === undefined) return undefined;
  return async () => {
    const changed = await watch.evaluate(endWatch, changesWithinMs).catch(() => gone);
    void watch.dispose().catch(() => undefined);
    return changed;
  };
}
