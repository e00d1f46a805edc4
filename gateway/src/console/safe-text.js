/** Characters that move, reorder or hide what is read: controls but tab and newline, bidirectional controls, zero-width characters. */
const misleading =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these very characters are what must not pass.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;

/**
 * A text from a model, a tool or a peer as it may be shown: what would mislead the reader shows as its code instead.
 *
 * @param {string} text
 * @returns {string}
 */
export function safeText(text) {
  return text.replaceAll("\r\n", "\n").replace(misleading, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
