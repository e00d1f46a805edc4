import type { ElementHandle, Frame, Page } from "playwright";
import { AppError } from "../../../core/errors.ts";
import { type FoundElement, findElement } from "../../observation/elements/find-element.ts";
import { describeCover } from "../../observation/in-page/describe-cover.ts";
import { type Changes, endWatch, untilChanged, watchChanges } from "../../observation/in-page/watch-changes.ts";
import { type AskedFor, noticeAskedFor } from "./asked-for.ts";
import type { BrowserCall } from "./browser-tool.ts";
import { followUp, placeOf } from "./follow-up.ts";
import { tellLoading } from "./tell-loading.ts";

/**
 * How long one act on an element may take, in milliseconds, including the wait until it can be
 * acted on.
 */
export const actMs = 4_000;
/**
 * How long a page without any change is watched before that is reported: so many times what it took
 * to answer, since a busy machine is also slow to open what was clicked.
 */
const watchedAnswers = 20;
const shortestWatchMs = 250;
const longestWatchMs = 2_500;
/** How long the answers to what an act made the page ask for are waited for. */
const answersMs = 2_500;

/**
 * Says what is being done, in the past tense; the last sentence becomes the first of the result.
 */
export type Say = (sentence: string) => void;

/**
 * Acts on the active page with the elements of some refs, which are found first. Reports what was
 * done and what followed: another address, a tab, a dialog, a download, or that nothing changed.
 */
export async function perform(
  call: BrowserCall,
  options: { readonly refs?: readonly string[]; readonly timeoutMs?: number; readonly watched?: boolean },
  work: (page: Page, elements: readonly FoundElement[], say: Say) => Promise<void>,
): Promise<string> {
  const { browsing, looks, context } = call;
  const { refs = [], timeoutMs = actMs, watched = true } = options;
  const before = placeOf(browsing);
  let said = "";
  looks.restless = true;
  const acting = browsing.act(
    async (page) => {
      const frame = looks.refs.get(refs[0] ?? "")?.frame ?? page.mainFrame();
      const watching = watched ? startWatch(page, frame) : undefined;
      const elements = await findElements(call, refs).catch((error: unknown) => {
        void watching?.then((stop) => stop?.());
        throw error;
      });
      const end = await watching;
      const asked = noticeAskedFor(page);
      const opened = Promise.withResolvers<Changes>();
      const stopWatching = () => opened.resolve(gone);
      page.once("popup", stopWatching);
      try {
        await work(page, elements, (sentence) => {
          said = sentence;
        });
        return end === undefined ? gone : await Promise.race([end(asked), opened.promise]);
      } catch (error) {
        await end?.();
        throw await explainFailure(error, elements);
      } finally {
        page.off("popup", stopWatching);
        asked.end();
      }
    },
    // The elements' own limit is shorter, so that the reason is known when it is reached.
    { signal: context.signal, timeoutMs: timeoutMs + 8_000 },
  );
  const changes = await tellLoading(call, acting);
  looks.changed ||= watched && changes?.changed === true;
  return [said, ...(await followUp(call, before, changes))].join(" ");
}

async function findElements({ browsing, looks }: BrowserCall, refs: readonly string[]): Promise<FoundElement[]> {
  const found: FoundElement[] = [];
  for (const ref of refs) found.push(await findElement(browsing, looks, ref));
  return found;
}

/** A document that is gone, or opened a tab, counts as changed. */
const gone: Changes = { changed: true, copied: false, said: [] };

const maxWatched = 6;

/**
 * Starts watching a page, the frame that is acted on first; returns a function that ends the watch
 * and returns its outcome, once something has changed or what the page asked for, which may change
 * it, has been answered.
 */
async function startWatch(page: Page, frame: Frame): Promise<((asked?: AskedFor) => Promise<Changes>) | undefined> {
  const begun = performance.now();
  const frames = [...new Set([frame, ...page.frames()])].slice(0, maxWatched);
  const started = await Promise.all(frames.map((one) => one.evaluateHandle(watchChanges).catch(() => undefined)));
  if (started[0] === undefined) return undefined;
  const watches = started.filter((watch) => watch !== undefined);
  const withinMs = Math.min(Math.max((performance.now() - begun) * watchedAnswers, shortestWatchMs), longestWatchMs);
  const hasChanged = () => anyOf(watches.map((watch) => watch.evaluate(untilChanged, withinMs)));
  return async (asked) => {
    try {
      const until = performance.now() + answersMs;
      do await asked?.answered(until - performance.now());
      while (!(await hasChanged()) && asked?.isOpen() && performance.now() < until);
      return together(await Promise.all(watches.map((watch) => watch.evaluate(endWatch))));
    } catch {
      return gone;
    } finally {
      for (const watch of watches) void watch.dispose().catch(() => undefined);
    }
  };
}

/** Whether one of these is true, as soon as one is; rejects if one does before that. */
async function anyOf(asked: readonly Promise<boolean>[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  for (const one of asked) void one.then((is) => is && resolve(true)).catch(() => undefined);
  return await Promise.race([promise, Promise.all(asked).then((all) => all.some(Boolean))]);
}

function together(all: readonly Changes[]): Changes {
  const changed = all.map((one) => one.changed);
  return {
    changed: changed.includes(true) || (changed.includes("styles") && "styles"),
    copied: all.some(({ copied }) => copied),
    said: all.flatMap(({ said }) => said).slice(0, 10),
  };
}

const reasons: readonly (readonly [pattern: RegExp, code: "conflict" | "invalid_input", text: string])[] = [
  [
    /not attached|detached from|is not connected|context was destroyed/i,
    "conflict",
    "is no longer valid: it left the page meanwhile. Look again and use the new refs",
  ],
  [/element is not enabled|is disabled/, "conflict", "is disabled. Do first what enables it"],
  [
    /element is inert/,
    "conflict",
    "cannot be used while something else is open, such as a dialog. Finish or close that",
  ],
  [/element is not visible/, "conflict", "is not visible. Open or scroll to what holds it, then look again"],
  [/outside of the viewport/, "conflict", "cannot be scrolled into view"],
  [/element is not stable/, "conflict", "does not stop moving. Wait, then try again"],
  [
    /not an <input>|Cannot type text into input/,
    "invalid_input",
    "takes no text. Give the ref of a text field; entries are chosen with browser_select_dropdown_option",
  ],
  [/not a <select>/, "invalid_input", "is not a dropdown of the browser. Click it, look, then click the entry"],
  [/Not a checkbox or radio/, "invalid_input", "is not a checkbox or radio button. Click it instead"],
  [
    /Malformed value/,
    "invalid_input",
    "does not take this value: a date is written 2026-01-31, a time 13:05, a month 2026-01, a week 2026-W05, a colour #rrggbb",
  ],
  [/did not find some options/, "invalid_input", "has no such option; browser_get_dropdown_options lists them"],
  [/element is not editable|readonly/, "conflict", "is read-only. Click it, or the button beside it, for what sets it"],
];

/** What covers an element, or the frame that it is in, as in the page around that. */
async function coverOf(handle: ElementHandle): Promise<string> {
  const cover = await handle.evaluate(describeCover);
  if (cover !== "") return cover;
  const around = await (await handle.ownerFrame())?.frameElement().catch(() => undefined);
  return around === undefined ? "" : await coverOf(around);
}

/**
 * What went wrong with an act, as an error that says what to do next. Unknown errors are returned
 * unchanged.
 */
export async function explainFailure(error: unknown, elements: readonly FoundElement[]): Promise<unknown> {
  const element = elements.at(-1);
  if (error instanceof AppError || !(error instanceof Error) || element === undefined) return error;
  const what = element.label;
  const covered = /intercepts pointer events/.test(error.message);
  if (covered || /element is not stable/.test(error.message)) {
    const cover = await coverOf(element.handle).catch(() => "");
    const message = `${what} is covered by ${cover === "" ? "another element" : cover}. Close or move that first, or scroll.`;
    if (covered || cover !== "") return new AppError("conflict", message, { cause: error });
  }
  const reason = reasons.find(([pattern]) => pattern.test(error.message));
  if (reason === undefined) return error;
  const [, code, text] = reason;
  return new AppError(code, `${what} ${text}.`, { cause: error });
}
