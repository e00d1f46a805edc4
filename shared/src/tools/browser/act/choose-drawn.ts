import type { ElementHandle, Frame, Locator } from "playwright";
import { AppError } from "../../../core/errors.ts";
import type { FoundElement } from "../../observation/elements/find-element.ts";
import { asData } from "../../page/as-data.ts";
import { actMs } from "./perform.ts";

const entryRoles = ["option", "menuitem", "menuitemradio", "treeitem"] as const;
const openMs = 2_000;
const pollMs = 80;

/**
 * Opens a dropdown that is built from other elements and clicks its entry, wherever on the page
 * that is drawn. What stood there before does not count as an entry, unless it has the role of one
 * and the dropdown does not say that it is closed.
 */
export async function chooseDrawn(element: FoundElement, text: string): Promise<string> {
  const { handle, label, seen, self } = element;
  const entries = entriesOf(seen.frame, text);
  const isClosed = await handle.evaluate((one) => one.getAttribute("aria-expanded") === "false");
  const shown = isClosed ? undefined : await firstNew(entries.slice(0, 1), []);
  const entry = shown ?? (await opened(element, entries));
  try {
    if (entry === undefined) throw new Error("no such entry");
    await entry.click({ timeout: openMs });
  } catch (error) {
    const drawn = (await drawnOptions(seen.frame)).map((option) => option.text);
    const options = (drawn.length > 0 ? drawn : await beginningWith(seen.frame, text)).slice(0, 30).map(quoted);
    const empty =
      self.tag === "input"
        ? "It may list what fits what is written: write a part with browser_input_text, then look."
        : "Look at the page: it may be open now, and can be clicked.";
    const list = options.length === 0 ? empty : `It shows:\n${asData(seen.frame.url(), options.join(", "))}`;
    throw new AppError("not_found", `${label} has no entry ${JSON.stringify(text)}. ${list}`, { cause: error });
  }
  return text;
}

const quoted = (text: string) => JSON.stringify(text.replace(/\s+/g, " ").trim().slice(0, 80));

/** Longer texts that begin with the words that an entry was looked for by. */
async function beginningWith(frame: Frame, text: string): Promise<string[]> {
  const longer = frame.getByText(new RegExp(`^\\s*${wordsOf(text)}\\s*\\S`, "i")).filter({ visible: true });
  return (await longer.allInnerTexts()).slice(0, 5);
}

/** The entries that a page draws of an open dropdown. */
export async function drawnOptions(frame: Frame): Promise<{ text: string; selected: boolean; disabled: boolean }[]> {
  const texts = await frame.getByRole("option").filter({ visible: true }).allInnerTexts();
  return texts.map((text) => ({ text: text.trim(), selected: false, disabled: false }));
}

function wordsOf(text: string): string {
  return text.trim().split(/\s+/).map(RegExp.escape).join("\\s+");
}

/** What has a text and the role of an entry, and whatever else has it. */
function entriesOf(frame: Frame, text: string): readonly [Locator, Locator] {
  const name = new RegExp(`^\\s*${wordsOf(text)}\\s*$`, "i");
  const byRole = entryRoles.map((role) => frame.getByRole(role, { name }).filter({ visible: true }));
  return [byRole.reduce((all, one) => all.or(one)), frame.getByText(name).filter({ visible: true })];
}

/** The entry that appears once the dropdown is clicked; it is clicked again if that closed it. */
async function opened({ handle }: FoundElement, entries: readonly Locator[]): Promise<ElementHandle | undefined> {
  const before = (await Promise.all(entries.map((one) => one.elementHandles()))).flat();
  await handle.click({ timeout: actMs });
  const found = await untilNew(entries, before);
  if (found !== undefined || before.length === 0) return found;
  const left = (await Promise.all(before.map((one) => one.isVisible()))).filter(Boolean).length;
  if (left === before.length) return undefined;
  const still = (await Promise.all(entries.map((one) => one.elementHandles()))).flat();
  await handle.click({ timeout: actMs });
  return await untilNew(entries, still);
}

async function untilNew(
  entries: readonly Locator[],
  before: readonly ElementHandle[],
): Promise<ElementHandle | undefined> {
  for (const until = performance.now() + openMs; performance.now() < until; await Bun.sleep(pollMs)) {
    const found = await firstNew(entries, before);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first of these elements that was not there before. */
async function firstNew(
  entries: readonly Locator[],
  before: readonly ElementHandle[],
): Promise<ElementHandle | undefined> {
  for (const entry of entries)
    for (const one of await entry.elementHandles())
      if (!(await one.evaluate((element, others) => others.some((other) => other === element), [...before])))
        return one;
  return undefined;
}
