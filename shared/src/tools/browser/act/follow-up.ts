import type { Browsing } from "../../../machine/browser/browser.ts";
import { tellNotices } from "../../observation/elements/snapshot-state.ts";
import type { Changes } from "../../observation/in-page/watch-changes.ts";
import { untilLoaded } from "../../observation/look.ts";
import { dialogText } from "../../observation/look-text.ts";
import { asData, originOf } from "../../page/as-data.ts";
import type { BrowserCall } from "./browser-tool.ts";

/** A browsing's active tab and address. */
export type TabAddress = { readonly tab: number; readonly url: string };

/** The address of the active tab. */
export function placeOf(browsing: Browsing): TabAddress {
  const { id, page } = browsing.active();
  return { tab: id, url: page.url() };
}

/**
 * What happened after an act as a consequence, one sentence each. `changes` is undefined when
 * changes were not watched, or a dialog interrupted the act.
 */
export async function followUp(
  { browsing, looks, context }: BrowserCall,
  before: TabAddress,
  changes: Changes | undefined,
): Promise<readonly string[]> {
  await untilLoaded(browsing, context.signal);
  const now = placeOf(browsing);
  const said: string[] = [];
  if (now.tab !== before.tab) said.push(`Tab ${now.tab} is active now: ${shortUrl(now.url)}.`);
  else if (now.url !== before.url) said.push(`The page is now ${addressFrom(before.url, now.url)}.`);
  const loading = browsing.loading();
  if (loading !== undefined)
    said.push(`The page ${shortUrl(loading.url)} is still loading: wait for it with browser_wait, then look.`);
  const notices = tellNotices(browsing, looks);
  const dialog = browsing.dialog();
  looks.toldDialog = dialog;
  if (dialog !== undefined) said.push(dialogText(dialog, "opened and holds", originOf(now.url)));
  if (changes !== undefined && changes.said.length > 0)
    said.push(`The page says:\n${asData(originOf(now.url), changes.said.join("\n"))}`);
  if (changes?.copied === true) said.push("Something was copied to the clipboard.");
  if (said.length === 0 && notices.length === 0) {
    if (changes?.changed === false) said.push("Nothing in the page changed.");
    // The text of the page does not show it.
    if (changes?.changed === "styles") said.push("The look of something in the page changed.");
  }
  return [...said, ...notices];
}

/** An address as it reads from another: without the origin that both have. */
export function addressFrom(before: string, now: string): string {
  const [from, to] = [URL.parse(before), URL.parse(now)];
  const isSite = to !== null && /^https?:$/.test(to.protocol) && from?.origin === to.origin;
  return shortUrl(isSite ? now.slice(now.indexOf(to.host) + to.host.length) : now);
}

/** An address shortened for a message: at most one line. */
export function shortUrl(url: string): string {
  return url.length <= 300 ? url : `${url.slice(0, 300)}…`;
}
