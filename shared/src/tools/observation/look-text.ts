import type { Browsing } from "../../machine/browser/browser.ts";
import { estimateText } from "../../models/tokens.ts";
import { asData } from "../page/as-data.ts";
import { noteRead } from "./left-page.ts";
import { type Line, linesOf } from "./lines.ts";
import { chooseLines, linesText, type Novelty } from "./lines-text.ts";
import type { PageLook } from "./look.ts";
import type { SnapshotState } from "./snapshot-state.ts";

/**
 * The outline of a look within a number of tokens, its new lines marked. A look whose text is
 * `kept` in the conversation leaves out unchanged lines that were reported before; one that is not
 * kept is complete in itself.
 */
export function bodyOf(
  look: PageLook,
  looks: SnapshotState,
  { tokens, kept }: { readonly tokens: number; readonly kept: boolean },
): string {
  noteRead(look, looks, kept);
  const lines = linesOfLook(look, tokens);
  const hashes = lines.map(({ text }) => Bun.hash(text));
  const document = `${look.tab.id} ${look.measure.origin}`;
  const former = kept ? looks.told : looks.newest;
  const before = former?.document === document ? former.lines : undefined;
  const novelty = hashes.map((hash): Novelty => (before === undefined ? "unmarked" : before.has(hash) ? "old" : "new"));
  const shown = chooseLines(lines, tokens);
  looks.newest = { document, lines: new Set(hashes) };
  if (kept) looks.told = { document, lines: new Set([...shown].flatMap((index) => hashes[index] ?? [])) };
  const outline = linesText(lines, { shown, novelty, collapseOld: kept });
  const title = look.title === "" ? "" : `Title: ${look.title.replace(/\s+/g, " ").slice(0, 150)}\n`;
  const body = asData(look.url, `${title}${outline === "" ? "(nothing is on the page)" : outline}`);
  return [body, ...remarks(look, lines.length > shown.size, novelty.includes("new"))].join("\n");
}

const fewLines = 60;

/**
 * On a small page every element gets its ref; on others only actionable elements do, and runs of
 * similar ones are collapsed.
 */
function linesOfLook({ items }: PageLook, tokens: number): readonly Line[] {
  const short = linesOf(items, { allRefs: false, collapsed: true });
  if (short.length > fewLines) return short;
  const rich = linesOf(items, { allRefs: true, collapsed: false });
  return rich.reduce((sum, { text }) => sum + estimateText(text), 0) < tokens / 2 ? rich : short;
}

function remarks({ unseen, crowded, measure }: PageLook, cut: boolean, marked: boolean): string[] {
  const said: string[] = [];
  if (marked) said.push("A star marks what is new since you last looked.");
  if (unseen > 0)
    said.push(`Left out: ${unseen} ${unseen === 1 ? "text" : "texts"} on the page that no person could see.`);
  if (crowded)
    said.push(
      `The page has ${measure.elements} elements; listed is what is in the window. browser_snapshot{find: "…"} finds the rest.`,
    );
  else if (cut)
    said.push(
      'browser_snapshot{expand: "e…"} shows a part whole, {find: "…"} the places of a text, {full: true} everything.',
    );
  return said;
}

/**
 * The text above the outline: the address, the tabs, which part of the page the window shows, and
 * what happened without an act.
 */
export function headerOf(browsing: Browsing, look: PageLook | undefined, notices: readonly string[]): string {
  const lines: string[] = [];
  const active = browsing.active();
  lines.push(`Page: ${oneLine(active.page.url(), 300)}`);
  const tabs = browsing.tabs();
  if (tabs.length > 1) lines.push(`Tabs: ${tabs.map((tab) => tabText(tab, tab.id === active.id)).join("; ")}`);
  if (look !== undefined) lines.push(windowText(look));
  const dialog = browsing.dialog();
  if (dialog !== undefined) {
    const answer = dialog.kind === "prompt" ? `, its default answer is ${JSON.stringify(dialog.defaultText)}` : "";
    lines.push(
      `A ${dialog.kind} dialog holds the page up${answer}. Answer it with browser_handle_dialog. It says:`,
      asData(active.page.url(), dialog.message.slice(0, 1_000)),
    );
  }
  for (const notice of notices) lines.push(`Note: ${notice}`);
  return lines.join("\n");
}

function tabText({ id, page }: { id: number; page: { url(): string } }, active: boolean): string {
  return `${id}${active ? " (active)" : ""} ${oneLine(page.url(), 80)}`;
}

function windowText({ measure }: PageLook): string {
  const { width, height, above, below } = measure;
  const whole = above + height + below;
  const shown =
    above === 0 && below === 0
      ? "all of it is in view"
      : `${above} px above, ${below} px below (${percent(above, whole - height)} % scrolled)`;
  return `Window: ${width}×${height} px; ${shown}`;
}

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.round((100 * part) / whole);
}

function oneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= length ? line : `${line.slice(0, length)}…`;
}
