import type { Page } from "playwright";
import type { Holds } from "../../live/holds.ts";
import type { Watchable } from "../../live/live-pages.ts";
import type { Browsers } from "../browser.ts";
import { startScreencast } from "./screencast.ts";

/** The open pages of these browsers, to watch. */
export function watchedPages(browsers: Browsers, holds: Holds): Watchable<Page> {
  return {
    look(workspace) {
      try {
        const browsing = browsers.peek(workspace);
        if (browsing === undefined) return { told: { page: "none", held: false } };
        const { page } = browsing.active();
        const dialog = browsing.dialog();
        const blocked = dialog && { kind: dialog.kind, message: dialog.message.slice(0, 1_000) };
        const held = holds.isHeld(workspace);
        return {
          told: { page: "open", url: page.url().slice(0, 2_000), held, ...(blocked && { dialog: blocked }) },
          shown: page,
        };
      } catch {
        // The browser is closing, or its last tab has just closed.
        return { told: { page: "none", held: false } };
      }
    },
    film: startScreencast,
  };
}
