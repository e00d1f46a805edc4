import type { Page, Request } from "playwright";
import { within } from "../../../core/async/within.ts";

/** What a program of a page asks for and shows: no pictures, and nothing that stays open. */
const shown = new Set(["fetch", "xhr", "script"]);

/** What the programs of a page ask its servers for while it is acted on. */
export type AskedFor = {
  /** Resolves once all of it, and what was asked for meanwhile, is answered, or after so long. */
  answered(maxMs: number): Promise<void>;
  /** Whether some of it has no answer yet. */
  isOpen(): boolean;
  end(): void;
};

/** Starts noticing what a page asks for. */
export function noticeAskedFor(page: Page): AskedFor {
  const open = new Set<Request>();
  let onEmpty: (() => void) | undefined;
  const began = (request: Request) => {
    if (shown.has(request.resourceType())) open.add(request);
  };
  const ended = (request: Request) => {
    if (open.delete(request) && open.size === 0) onEmpty?.();
  };
  page.on("request", began);
  page.on("requestfinished", ended);
  page.on("requestfailed", ended);
  return {
    async answered(maxMs) {
      const until = performance.now() + maxMs;
      while (open.size > 0 && performance.now() < until) {
        const { promise, resolve } = Promise.withResolvers<void>();
        onEmpty = resolve;
        await within(until - performance.now(), promise);
      }
    },
    isOpen: () => open.size > 0,
    end() {
      page.off("request", began);
      page.off("requestfinished", ended);
      page.off("requestfailed", ended);
    },
  };
}
