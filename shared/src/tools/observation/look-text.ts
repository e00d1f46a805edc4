import type { Browsing, OpenDialog } from "../../machine/browser/browser.ts";
import { estimateText } from "../../models/tokens.ts";
import { asData, originOf } from "../page/as-data.ts";
import { drawnRole } from "./drawn-items.ts";
import { type Detail, linesOf, type OutlineLine } from "./lines.ts";
import { chooseLines, linesText } from "./lines-text.ts";
import type { PageLook } from "./look.ts";

/** The lines of a look, how they are written, and which of them a number of tokens has room for. */
export type LookLines = {
  readonly lines: readonly OutlineLine[];
  readonly detail: Detail;
  readonly shown: ReadonlySet<number>;
};

/** What happened without an act, a line each. */
export function notesOf(notices: readonly string[]): string[] {
  return notices.map((notice) => `Note: ${notice}`);
}

/** The page as text: the title, the shown lines of its outline, and what was left out. */
export function bodyOf(look: PageLook, { lines, shown }: LookLines): string {
  const outline = linesText(lines, shown);
  const body = asData(originOf(look.url), `${titleText(look)}${outline === "" ? "(nothing is on the page)" : outline}`);
  return [body, ...remarks(look, lines.length > shown.size)].join("\n");
}

/** The line with a page's title; empty if it has none. */
export function titleText({ title }: Pick<PageLook, "title">): string {
  return title === "" ? "" : `Title: ${title.replace(/\s+/g, " ").slice(0, 150)}\n`;
}

const fewLines = 60;

/**
 * The lines of a look. On a small page every element gets its ref; on others only actionable
 * elements do, and runs of similar ones are collapsed. `detail` keeps to how they were written
 * before; lines with the words of `known` go last. What is behind a dialog that makes it inert is
 * left out, but for `behind`.
 */
export function linesOfLook(
  { items }: PageLook,
  tokens: number,
  detail?: Detail,
  { known, behind = false }: { readonly known?: ReadonlySet<string>; readonly behind?: boolean } = {},
): LookLines {
  const written = (how: Detail) => {
    const lines = linesOf(items, how);
    return {
      lines,
      detail: how,
      shown: chooseLines(lines, tokens, { known, usable: behind ? undefined : usable(lines) }),
    };
  };
  if (detail !== undefined) return written(detail);
  const short = linesOf(items, { allRefs: false, collapsed: true });
  if (short.length > fewLines) return written({ allRefs: false, collapsed: true });
  const detailed = { allRefs: true, collapsed: false };
  return fits(linesOf(items, detailed), tokens / 2) ? written(detailed) : written({ allRefs: false, collapsed: true });
}

/** While a dialog of the page itself makes the rest inert, its lines and the drawn shapes in it. */
function usable(lines: readonly OutlineLine[]): ((index: number) => boolean) | undefined {
  const dialog = lines.findLastIndex(({ modal }) => modal);
  const isWithin = (index: number, found: (at: number) => boolean) => {
    for (let at = index; at >= 0; at = lines[at]?.parent ?? -1) if (found(at)) return true;
    return false;
  };
  const isFrame = (at: number) => lines[at]?.text.startsWith("iframe") === true;
  if (dialog < 0 || isWithin(dialog, isFrame)) return undefined;
  const isShape = (at: number) => lines[lines[at]?.parent ?? -1]?.text === drawnRole && lines[at]?.behind !== true;
  return (index) => isShape(index) || isWithin(index, (at) => at === dialog);
}

/** Whether the lines take less than so many tokens; long ones are not estimated to the end. */
function fits(lines: readonly OutlineLine[], tokens: number): boolean {
  let left = tokens;
  return lines.every(({ text }) => {
    left -= estimateText(text);
    return left > 0;
  });
}

function remarks({ crowded, measure }: PageLook, cut: boolean): string[] {
  const said: string[] = [];
  if (crowded)
    said.push(
      `The page has ${measure.elements} elements; of the last ones, only what is near the window is listed. browser_snapshot{find: "…"} finds the rest.`,
    );
  else if (cut)
    said.push(
      'browser_snapshot{expand: "e…"} shows a part whole, {find: "…"} the places of a text, {full: true} everything.',
    );
  return said;
}

/**
 * The lines above the outline: the address, the tabs, which part of the page the window shows, and
 * the dialog that holds it up.
 */
export function headerOf(browsing: Browsing, look: PageLook | undefined, about: readonly string[] = []): string[] {
  const active = browsing.active();
  const lines = [`Page: ${oneLine(active.page.url(), 300)}`];
  const tabs = browsing.tabs();
  if (tabs.length > 1) lines.push(`Tabs: ${tabs.map((tab) => tabText(tab, tab.id === active.id)).join("; ")}`);
  if (look !== undefined) lines.push(...windowLines(look));
  lines.push(...about);
  const dialog = browsing.dialog();
  if (dialog !== undefined) lines.push(dialogText(dialog, "holds", active.page.url()));
  return lines;
}

/** What a dialog asks, and how it is answered. */
export function dialogText({ kind, message, defaultText }: OpenDialog, does: string, from: string): string {
  const answer =
    kind === "prompt" && defaultText !== "" ? `, its default answer is ${JSON.stringify(defaultText)}` : "";
  return `A ${kind} dialog ${does} the page up${answer}. Answer it with browser_handle_dialog. It says:\n${asData(from, message.slice(0, 1_000))}`;
}

function tabText({ id, page }: { id: number; page: { url(): string } }, active: boolean): string {
  return `${id}${active ? " (active)" : ""} ${oneLine(page.url(), 80)}`;
}

/** How far a page is scrolled; of one that is all in view there is nothing to say. */
function windowLines({ measure }: PageLook): string[] {
  const { width, height, above, below } = measure;
  if (above === 0 && below === 0) return [];
  const scrolled = percent(above, above + below);
  return [`Window: ${width}×${height} px; ${above} px above, ${below} px below (${scrolled} % scrolled)`];
}

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.round((100 * part) / whole);
}

function oneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= length ? line : `${line.slice(0, length)}…`;
}
