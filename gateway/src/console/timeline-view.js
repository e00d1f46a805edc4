import { element } from "./element.js";
import { timelineEntry } from "./timeline-entry.js";
import { clockText } from "./words.js";

/** The page scrolls with new lines when the reader is this close to its end. */
const nearPixels = 120;

/**
 * The timeline of a run, one line per event. `add` takes an item of its stream.
 *
 * @returns {{ root: HTMLElement, add(item: { at: string, event: { type: string } }): void }}
 */
export function timelineView() {
  const list = element("ol", { class: "timeline" });
  /** The note of the flow's last event, and the texts already shown: a plan, a transcript. */
  let lastNote;
  const texts = new Set();
  return {
    root: element("section", { "aria-label": "Timeline" }, element("h3", {}, "Timeline"), list),
    add({ at, event }) {
      const entry = timelineEntry(event);
      // When a plan item changes the plan, its own line says so; the plan itself is shown above.
      const isText = event.type === "artifact-added" && event.parts.every(({ type }) => type !== "file");
      const isRepeated =
        event.type === "plan-changed" ? event.note === lastNote : isText && texts.has(event.artifactId);
      if (isText) texts.add(event.artifactId);
      if (event.note !== undefined) lastNote = event.note;
      if (entry === undefined || isRepeated) return;
      const page = document.scrollingElement;
      const follows = page.scrollTop > 0 && page.scrollHeight - page.scrollTop - page.clientHeight < nearPixels;
      list.append(lineView(at, entry));
      if (follows) page.scrollTop = page.scrollHeight;
    },
  };
}

function lineView(at, { mark, tone = "", line, more }) {
  const text =
    more === undefined || more === ""
      ? element("div", { class: "line" }, line)
      : element("details", {}, element("summary", { class: "line" }, line), element("pre", {}, more));
  return element(
    "li",
    { class: tone },
    element("time", { datetime: at, class: "quiet" }, clockText(at)),
    element("span", { class: "mark", "aria-hidden": "true" }, mark),
    text,
  );
}
