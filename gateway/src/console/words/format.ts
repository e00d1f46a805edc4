import { escapeUnseen } from "manyhands/internal/core/text/sanitize";
import type { TaskUsage } from "manyhands/internal/core/usage";
import { language, words } from "./words.ts";

/** How long ago a time was, as people say it. */
export function ageText(iso: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  if (seconds < 60) return words().seconds(seconds);
  if (seconds < 3600) return words().minutes(Math.floor(seconds / 60));
  if (seconds < 86_400) return words().hours(Math.floor(seconds / 3600));
  return words().days(Math.floor(seconds / 86_400));
}

/** The time of day of an event. */
export function clockText(iso: string): string {
  return new Date(iso).toLocaleTimeString(language.value, { hour12: false });
}

/** A day and time, in the person's order. */
export function timeText(iso: string): string {
  return new Date(iso).toLocaleString(language.value, { dateStyle: "medium", timeStyle: "short" });
}

/** A size for people. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${fewDigits(bytes / 1000)} kB` : `${fewDigits(bytes / 1_000_000)} MB`;
}

const fewDigits = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0));

/** Milliseconds for people: 84 ms, 4.2 s, 1 min 12 s. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 10) return words().seconds(Number(seconds.toFixed(1)));
  if (seconds < 60) return words().seconds(Math.round(seconds));
  const whole = Math.round(seconds);
  if (whole < 3600) return `${words().minutes(Math.floor(whole / 60))} ${words().seconds(whole % 60)}`;
  return `${words().hours(Math.floor(whole / 3600))} ${words().minutes(Math.floor((whole % 3600) / 60))}`;
}

/** A number with its thousands apart. */
export function countText(count: number): string {
  return count.toLocaleString(language.value);
}

/** Dollars: $0.41, $0.0031. */
export function moneyText(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
}

/** What a run cost. Unknown is shown as unknown, never as zero. */
export function costText({ usd, unpriced }: Pick<TaskUsage, "usd" | "unpriced">): string {
  if (!unpriced) return moneyText(usd);
  return usd === 0 ? words().costUnknown : words().costPartlyUnknown(moneyText(usd));
}

/** A model by its name, and by its provider if that is not the same. */
export function modelText({ name, provider }: { readonly name: string; readonly provider: string }): string {
  return name === provider ? name : `${name} (${provider})`;
}

/** The first line of a text, cut to a length. */
export function shortLine(text: string, length = 160): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

/** Markdown as a line of a list says it: without the marks of headings, items and emphasis. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/^[^\S\n]*(?:#{1,6}|[-*+>])\s+/gm, "")
    .replaceAll(/\*\*|`/g, "")
    .replaceAll(/(?<![\w*])\*(?=\S)([^*\n]{1,200})(?<=\S)\*(?![\w*])/g, "$1");
}

/**
 * A text from a model, a tool or a peer, safe to show: characters that would mislead the reader are
 * shown as escapes.
 */
export function safeText(text: string): string {
  return escapeUnseen(text.replaceAll("\r\n", "\n"));
}
