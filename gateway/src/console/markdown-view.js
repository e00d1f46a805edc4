import { element } from "./element.js";
import { parseMarkdown } from "./markdown.js";

/**
 * A text in Markdown as elements of the page.
 *
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdownView(text) {
  return element("div", { class: "markdown" }, parseMarkdown(text).map(blockView));
}

function blockView(block) {
  switch (block.type) {
    case "heading":
      return element(`h${Math.min(block.level + 2, 6)}`, {}, block.inline.map(inlineView));
    case "code":
      return element("pre", {}, element("code", {}, block.text));
    case "list":
      return element(block.ordered ? "ol" : "ul", {}, block.items.map(itemView));
    case "table":
      return element("div", { class: "scroll" }, element("table", {}, block.rows.map(rowView)));
    case "rule":
      return element("hr");
    default:
      return element(block.type === "quote" ? "blockquote" : "p", {}, block.inline.map(inlineView));
  }
}

const itemView = (inline) => element("li", {}, inline.map(inlineView));

function rowView(cells, index) {
  return element(
    "tr",
    {},
    cells.map((inline) => element(index === 0 ? "th" : "td", {}, inline.map(inlineView))),
  );
}

function inlineView(part) {
  switch (part.type) {
    case "link":
      return element(
        "a",
        { href: part.href, title: part.href, rel: "noopener noreferrer", target: "_blank" },
        part.text,
      );
    case "text":
      return part.text;
    default:
      return element(part.type, {}, part.text);
  }
}
