import type { Frame, Page } from "playwright";
import { percentDecoded } from "../../core/text/percent-decoded.ts";

const maxLinks = 5_000;
const collectMs = 2_000;

/** The addresses in a text of the web: those of Markdown links and bare ones. */
export function linksIn(text: string): string[] {
  const found = text.match(/\bhttps?:\/\/[^\s<>"'`\\^{}|]+/gi) ?? [];
  return found.slice(0, maxLinks).flatMap((link) => {
    // A closing bracket belongs to an address only when its opening one does.
    const closed = link.includes("(") ? link : link.replace(/\).*$/, "");
    return hrefOf(closed.replace(/(?<![.,;:!?\]])[.,;:!?\]]+$/, "")) ?? [];
  });
}

/**
 * The addresses that a page and its frames link to. Frames that do not answer at once are left out.
 */
export async function linksOn(page: Page): Promise<string[]> {
  const frames = page.frames().slice(0, 12);
  const late = Promise.withResolvers<string[]>();
  const timer = setTimeout(() => late.resolve([]), collectMs);
  const linksOf = (frame: Frame) => Promise.race([frame.evaluate(readLinks, maxLinks).catch(() => []), late.promise]);
  const found = await Promise.all(frames.map(linksOf)).finally(() => clearTimeout(timer));
  return found.flat().flatMap((link) => hrefOf(String(link)) ?? []);
}

declare const document: { readonly links: ArrayLike<{ readonly href: unknown }> };

/** Runs in the page. */
function readLinks(most: number): string[] {
  return Array.from(document.links, ({ href }) => String(href)).slice(0, most);
}

/**
 * Whether the agent's own text contains an address: a page that returns it as a link adds nothing
 * new.
 */
export function isWritten(link: string, wrote: string): boolean {
  const bare = withoutScheme(link).replace(/\/$/, "");
  return bare !== "" && wrote.includes(bare);
}

/**
 * A text normalised for finding written addresses again: lower case, escapes decoded, without
 * schemes.
 */
export function withoutScheme(text: string): string {
  const plain = text.replaceAll(/(?:%[\da-f]{2})+/gi, percentDecoded);
  return plain.toLowerCase().replaceAll(/https?:\/\//g, "");
}

function hrefOf(text: string): string | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
