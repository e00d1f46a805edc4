/** What a page may put between the characters of a text without it reading otherwise. */
const between = "[\\s\\p{Cf}\\p{Mn}.,_|/·-]{0,3}";

/**
 * Finds a value in texts: as it is, also with blanks or invisible characters in between and in
 * other case, backwards, and in the usual encodings. Other disguises are not found.
 */
export function patternOf(value: string): RegExp {
  const bytes = Buffer.from(value);
  const spaced = [value, [...value].toReversed().join("")].map((text) => [...text].map(escaped).join(between));
  const encoded = [
    bytes.toString("base64").replace(/(?<!=)=+$/, ""),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    encodeURIComponent(value),
    new URLSearchParams({ v: value }).toString().slice(2),
    JSON.stringify(value).slice(1, -1),
    value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
    Bun.escapeHTML(value),
  ].map(escaped);
  return new RegExp([...new Set([...spaced, ...encoded])].join("|"), "giu");
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
