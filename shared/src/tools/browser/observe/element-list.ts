import type { JSHandle, Page } from "playwright";
import { type ElementList, newElementList } from "../in-page/element-list.ts";
import type { Looks } from "../looks.ts";

const mostLists = 20;

/** The list of a page's newest document, made when it has none. */
export async function listOf(page: Page, looks: Looks, document: string): Promise<JSHandle<ElementList>> {
  const known = looks.lists.get(document);
  if (known !== undefined) return known;
  const list = await page.evaluateHandle(newElementList);
  looks.lists.set(document, list);
  const [oldest] = looks.lists.keys();
  if (looks.lists.size > mostLists && oldest !== undefined) {
    void looks.lists
      .get(oldest)
      ?.dispose()
      .catch(() => undefined);
    looks.lists.delete(oldest);
  }
  return list;
}
