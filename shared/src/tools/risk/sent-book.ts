import type { Page, Request } from "playwright";
import type { ActionTarget, SentBefore } from "./judge-action.ts";

/**
 * What pages did when one of their elements was pressed, remembered for as long as a conversation's
 * browsing lasts.
 */
export interface SentBook {
  /** What the page sent when a similar element was pressed before. */
  before(place: ActionTarget): SentBefore | undefined;
  /** Runs `press` on the element and notes what the page sends meanwhile. */
  during<T>(page: Page, place: ActionTarget, press: () => Promise<T>): Promise<T>;
}

/** Creates an empty book. */
export function createSentBook(): SentBook {
  const sent = new Map<string, SentBefore>();
  return {
    before: (place) => sent.get(likenessOf(place)),
    async during(page, place, press) {
      const likeness = likenessOf(place);
      const note = (request: Request) => {
        const url = URL.parse(request.url());
        // A page that deletes something often tells a log of it next, which must not hide the
        // action.
        if (url === null || !sends(request) || sent.get(likeness)?.method === "DELETE") return;
        sent.set(likeness, { method: request.method(), path: url.pathname });
      };
      page.on("request", note);
      try {
        return await press();
      } finally {
        page.off("request", note);
      }
    },
  };
}

/** Whether a request does more than read, or report about the page's visitors. */
function sends(request: Request): boolean {
  return (
    !["GET", "HEAD", "OPTIONS"].includes(request.method()) &&
    ["document", "xhr", "fetch"].includes(request.resourceType())
  );
}

/** A key that is the same for the buttons of all rows of a list. */
function likenessOf({ action, url, name = "" }: ActionTarget): string {
  const called = [name, ...action.words].join(" ").replaceAll(/\d+/g, "#").slice(0, 200);
  const marks = action.marks.join(" ").replaceAll(/\d+/g, "#").slice(0, 500);
  return JSON.stringify([url?.host, action.tag, action.type, called, marks]);
}
