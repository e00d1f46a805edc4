import { element } from "./element.js";
import { timelineEntry } from "./timeline-entry.js";
import { clockText } from "./words.js";

/** How near the end of the page the reader has to be for the page to follow what comes. */
const nearPixels = 120;

/**
 * What happened in a run, line by line. `add` takes an item of its stream.
 *
 * @returns {{ root: HTMLElement, add(item: { at: string, event: { type: string } }): void }}
 */
export function timelineView() {
  const list = element("ol", { class: "timeline" });
  /** The note of the flow's last event, and the texts that were told: a plan, a transcript. */
  let told;
  const texts = new Set();
  return {
    root: element("section", { "aria-label": "What happened" }, element("h3", {}, "What happened"), list),
    add({ at, event }) {
      const entry = timelineEntry(event);
      // A plan that changes with a step says no more than the step did; the plan itself stands
      // above.
      const isText = event.type === "artifact-added" && event.parts.every(({ type }) => type !== "file");
      const isRepeated = event.type === "plan-changed" ? event.note === told : isText && texts.has(event.artifactId);
      if (isText) texts.add(event.artifactId);
      if (event.note !== undefined) told = event.note;
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
