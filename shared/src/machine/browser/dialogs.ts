import type { Dialog, Page } from "playwright";
import type { OpenDialog } from "./browser.ts";
import type { Notices } from "./notices.ts";

/** Of consecutive dialogs, this many wait for an answer. */
const longestRow = 5;

/** The dialogs of a conversation's pages. */
export interface Dialogs {
  watch(page: Page): void;
  /** The dialog that blocks this page. */
  open(page: Page): OpenDialog | undefined;
  /**
   * Resolves when a dialog opens that blocks this page, unless `signal` aborts first; never
   * rejects.
   */
  opened(page: Page, signal: AbortSignal): Promise<void>;
  /**
   * Closes a dialog that nobody answered, because the page is about to be used for something else.
   */
  settle(page: Page): Promise<void>;
  /** Resets the count of consecutive dialogs: an action ended without one. */
  calm(page: Page): void;
}

type State = { open: OpenDialog | undefined; row: number; waiting: Set<() => void> };

/**
 * Alerts are accepted immediately and reported. A question waits for its answer as long as its page
 * is open: it may be a person who has to allow the answer.
 */
export function createDialogs(notices: Notices): Dialogs {
  const states = new WeakMap<Page, State>();
  const stateOf = (page: Page): State => {
    const state = states.get(page) ?? { open: undefined, row: 0, waiting: new Set() };
    states.set(page, state);
    return state;
  };
  return {
    watch: (page) => page.on("dialog", (dialog) => void receive(dialog, stateOf(page), notices)),
    open: (page) => stateOf(page).open,
    opened(page, signal) {
      const { waiting, open } = stateOf(page);
      if (open !== undefined) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.add(resolve);
        signal.addEventListener("abort", () => waiting.delete(resolve), { once: true });
      });
    },
    async settle(page) {
      const { open } = stateOf(page);
      if (open === undefined) return;
      notices.add(dismissed(open, "nobody answered it before the next action"));
      await open.answer(false);
    },
    calm(page) {
      stateOf(page).row = 0;
    },
  };
}

async function receive(dialog: Dialog, state: State, notices: Notices): Promise<void> {
  const kind = dialog.type();
  const message = dialog.message().slice(0, 500);
  if (++state.row > longestRow) {
    notices.add(`The page opens one dialog after the other; those after the first ${longestRow} were closed unasked.`);
    return close(dialog, kind === "alert");
  }
  if (kind === "alert") {
    notices.add(`The page showed an alert, which was accepted: ${JSON.stringify(message)}`);
    return close(dialog, true);
  }
  const open: OpenDialog = {
    kind: kind === "confirm" || kind === "prompt" ? kind : "beforeunload",
    message,
    defaultText: dialog.defaultValue(),
    async answer(accept, text) {
      if (state.open !== open) return;
      state.open = undefined;
      await close(dialog, accept, text);
    },
  };
  state.open = open;
  for (const wake of state.waiting) wake();
  state.waiting.clear();
}

function dismissed({ kind, message }: OpenDialog, why: string): string {
  const meaning = kind === "beforeunload" ? ", so the page was not left" : "";
  return `The ${kind} dialog ${JSON.stringify(message)} was dismissed${meaning}: ${why}.`;
}

/** A dialog that has gone with its page needs no answer. */
async function close(dialog: Dialog, accept: boolean, text?: string): Promise<void> {
  await (accept ? dialog.accept(text) : dialog.dismiss()).catch(() => undefined);
}
