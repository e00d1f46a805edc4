import { safeText } from "./safe-text.js";

/**
 * An element of the page. Strings become text, never HTML; functions listen to the event their attribute names; `true` sets an attribute
 * without a value; `undefined` and `false` leave it, or the child, out.
 *
 * @param {string} tag
 * @param {Record<string, string | number | boolean | undefined | ((event: Event) => void)>} attributes
 * @param {...unknown} children
 * @returns {HTMLElement}
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

/** What children stand for, as nodes. */
function nodesOf(children) {
  return children
    .flat(Number.POSITIVE_INFINITY)
    .filter((child) => child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : safeText(String(child))));
}

/**
 * Puts other children in the place of those an element has.
 *
 * @param {Element} parent
 * @param {...unknown} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodesOf(children));
}
