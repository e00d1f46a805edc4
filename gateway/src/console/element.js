/**
 * An element of the page. Strings become text, never HTML; functions listen to the event their
 * attribute names; `true` sets an attribute without a value; `undefined` and `false` leave it, or
 * the child, out.
 *
 * @param {string} tag @param {Record<string, string | number | boolean | undefined | ((event:
 * Event) => void)>} attributes @param {...unknown} children @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : safeText(String(value)));
  }
  made.append(...nodesOf(children));
  return made;
}

/** The children as nodes. */
function nodesOf(children) {
  return children
    .flat(Number.POSITIVE_INFINITY)
    .filter((child) => child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : safeText(String(child))));
}

/**
 * Replaces the children of an element.
 *
 * @param {Element} parent
 * @param {...unknown} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodesOf(children));
}

/**
 * Characters that move, reorder or hide text: control characters except tab and newline,
 * bidirectional controls, zero-width characters.
 */
const misleading =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these very characters are what must not pass.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;

/**
 * A text from a model, a tool or a peer, safe to show: characters that would mislead the reader are
 * shown as escapes.
 *
 * @param {string} text @returns {string}
 */
function safeText(text) {
  return text.replaceAll("\r\n", "\n").replace(misleading, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
