import { AppError } from "../../../core/errors.ts";
import type { PersonInput } from "../../../core/live-page.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { Shareable } from "../../live/holds.ts";
import type { Browsers, Browsing } from "../browser.ts";
import { coverTyped, performInput } from "./person-input.ts";

/** Told when a page is handed back: where something was typed. */
export type OnHandBack = (workspace: Workspace, typedAt: readonly URL[]) => Promise<void>;

const inputMs = 10_000;

/** The pages of these browsers, for an agent and a person in turn. */
export function sharedPages(browsers: Browsers, onHandBack: OnHandBack): Shareable<Browsing> {
  const typed = new WeakMap<Browsing, Map<string, URL>>();
  return {
    name: "page",
    peek: (workspace) => browsers.peek(workspace),
    async use(browsing, input) {
      const at = URL.parse(browsing.active().page.url());
      const isTyped = input.type === "text" || input.type === "key";
      if (isTyped && at !== null && browsing.dialog() === undefined)
        typed.set(browsing, (typed.get(browsing) ?? new Map()).set(at.host, at));
      await usePage(browsing, input);
    },
    async handedBack(browsing, workspace, seconds) {
      await onHandBack(workspace, [...(typed.get(browsing)?.values() ?? [])]);
      typed.delete(browsing);
      await Promise.all(browsing.tabs().map(({ page }) => coverTyped(page)));
      browsing.tell(`A person used the browser for ${seconds} s and handed it back, on ${placeOf(browsing)}.`);
    },
  };
}

async function usePage(browsing: Browsing, input: PersonInput): Promise<void> {
  const dialog = browsing.dialog();
  if (input.type === "dialog") {
    await dialog?.answer(input.accept, input.text);
    return;
  }
  if (dialog !== undefined) throw new AppError("conflict", "Answer the page's dialog first.");
  try {
    const bounds = { signal: new AbortController().signal, timeoutMs: inputMs };
    await browsing.act((page) => performInput(page, input), bounds);
  } catch (error) {
    if (error instanceof AppError) throw error;
    // Whatever the browser says of it may hold what was typed.
    throw new AppError("unavailable", "The page did not accept that.");
  }
}

/** Where the page is, without what its address may hold of a form. */
function placeOf(browsing: Browsing): string {
  const url = URL.parse(browsing.active().page.url());
  return url === null || url.origin === "null" ? "an empty page" : `${url.origin}${url.pathname}`.slice(0, 300);
}
