import type { Browsing } from "../../../machine/browser/browser.ts";
import { asData } from "../../web/as-data.ts";
import type { Look } from "./look.ts";

/** What stands above the outline: where this is, the tabs, what of the page the window shows, what happened by itself. */
export function headerOf(browsing: Browsing, look: Look | undefined, notices: readonly string[]): string {
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

function windowText({ measure }: Look): string {
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
