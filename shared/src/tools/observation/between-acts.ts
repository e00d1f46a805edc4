import type { Browsing } from "../../machine/browser/browser.ts";
import { asData, originOf } from "../page/as-data.ts";
import type { SnapshotState } from "./elements/snapshot-state.ts";
import { linesOf } from "./lines.ts";
import { withoutRefs } from "./lines-text.ts";
import { lookAt, type PageLook, settle } from "./look.ts";
import { oneLine, withinBudget } from "./page-brief.ts";
import type { ToldPage } from "./told-page.ts";

const glanceMs = 3_000;
const maxGlances = 12;
/** Tokens that what a page showed in between may take. */
const passedTokens = 120;

/**
 * Before another act of a turn: notes what the page says after the one before, since the next
 * observation only finds what both left. Never fails, as the act does not need it.
 */
export async function noteBetween(browsing: Browsing, looks: SnapshotState, signal: AbortSignal): Promise<void> {
  if (!looks.changed) return;
  looks.changed = false;
  try {
    await settle(browsing, looks, signal);
    const look = await lookAt(browsing, looks, { signal, timeoutMs: glanceMs, isGlance: true });
    if (look !== undefined) looks.between = [...looks.between, textsOf(look)].slice(-maxGlances);
  } catch {
    signal.throwIfAborted();
  }
}

/**
 * What a page said between the acts of a turn and is neither on it now nor known; also of the page
 * that was told, when an act has left it since. Empty if nothing.
 */
export function passedText(
  look: PageLook,
  between: SnapshotState["between"],
  { base, snapshot }: { readonly base: ToldPage | undefined; readonly snapshot: ToldPage | undefined },
): string {
  if (between.length === 0) return "";
  const now = placeOf(look.url);
  const told = placeOf(/^Page: (\S*)/.exec(base?.header[0] ?? "")?.[1] ?? "");
  const known = [...(base?.lines ?? []), ...(snapshot?.lines ?? [])];
  const lines = linesOf(look.items, { allRefs: false, collapsed: false }).map(({ text }) => text);
  const here = { place: now, head: "Between your acts it also said", lines };
  const left = { place: told, head: `Between your acts ${told} also said`, lines: known.map(withoutRefs) };
  return [here, ...(told === "" || told === now ? [] : [left])]
    .map((page) => saidThere(page, between, known))
    .filter((text) => text !== "")
    .join("\n");
}

type SaidPage = { readonly place: string; readonly head: string; readonly lines: readonly string[] };

function saidThere({ place, head, lines }: SaidPage, between: SnapshotState["between"], known: readonly string[]) {
  const texts = between.flatMap((one) => (one.place === place ? one.texts : []));
  if (texts.length === 0) return "";
  const told = new Set([...lines, ...known].map(withoutRefs));
  const isOfUse = (text: string) => !told.has(text) && !isFleeting(text) && !lines.some((one) => one.includes(text));
  const kept = withinBudget([...new Set(texts.filter(isOfUse))].map(oneLine), passedTokens);
  return kept.length === 0 ? "" : `${head}:\n${asData(originOf(place), kept.join("\n"))}`;
}

/**
 * Whether a text only says that something was under way (`Loading…`), or has no word, as a clock or
 * a share of progress.
 */
function isFleeting(text: string): boolean {
  return /(?:…|\.\.\.)$/.test(text.trim()) || /^[\d\s:/%.,()-]*$/.test(text);
}

/** What stands on a page, without what can be operated and what is only drawn. */
function textsOf({ url, items }: PageLook): SnapshotState["between"][number] {
  const written = items.filter(({ role }) => !role.startsWith("icons and shapes"));
  const lines = linesOf(written, { allRefs: false, collapsed: true });
  const texts = lines.filter(({ text, acts }) => !acts && !text.startsWith("… ")).map(({ text }) => withoutRefs(text));
  return { place: placeOf(url), texts };
}

function placeOf(url: string): string {
  return url.replace(/[?#].*$/s, "");
}
