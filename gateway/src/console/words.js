/**
 * How long ago a time was, as people say it.
 *
 * @param {string} iso
 * @param {number} now
 */
export function ageText(iso, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** The time of day of an event. */
export function clockText(iso) {
  return new Date(iso).toLocaleTimeString([], { hour12: false });
}

/** A size for people. */
export function sizeText(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Milliseconds for people. */
export function durationText(milliseconds) {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** What a run used. Unknown cost is shown as unknown, never as zero. */
export function usageText({ tokens, usd, unpriced }) {
  const known = `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
  const cost = unpriced ? (usd === 0 ? "cost unknown" : `${known} plus unknown cost`) : known;
  return `${tokens.toLocaleString("en")} tokens · ${cost}`;
}

/** The first line of a text, cut to a length. */
export function shortLine(text, length = 160) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

/** A text as one line of the timeline; `more` holds the whole text when the line is cut. */
export function opened(text) {
  const line = shortLine(text);
  return { line, ...(line !== text.trim() && { more: text }) };
}
