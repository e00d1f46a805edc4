import { get } from "./api.js";
import { element, fill } from "./element.js";
import { ageText, shortLine } from "./words.js";

const everyMs = 2_000;
const pageSize = 30;

/**
 * The caller's runs, newest first, refreshed every two seconds while the page is visible.
 *
 * @param {(error: unknown) => void} report
 * @returns {HTMLElement}
 */
export function runList(report) {
  const list = element("ul", { class: "runs" });
  const more = element("button", { hidden: true, onclick: () => void grow() }, "Older runs");
  let size = pageSize;
  let failed = false;
  const refresh = async () => {
    try {
      const { runs, total } = await get(`/runs?limit=${size}`);
      update(list, runs);
      more.hidden = total <= size || size >= 200;
      failed = false;
    } catch (error) {
      // Reported once; the list keeps retrying.
      if (!failed) report(error);
      failed = true;
    }
  };
  const grow = () => {
    size = Math.min(size * 2, 200);
    return refresh();
  };
  const keep = async () => {
    if (!document.hidden) await refresh();
    setTimeout(keep, everyMs);
  };
  void keep();
  addEventListener("hashchange", () => markCurrent(list));
  return element("nav", { "aria-label": "Runs" }, element("h2", {}, "Runs"), list, more);
}

/** Keeps unchanged entries in place, so that a focused one keeps its focus. */
function update(list, runs) {
  const known = new Map([...list.children].map((item) => [item.dataset.id, item]));
  const items = runs.map((run) => {
    const item = known.get(run.id) ?? element("li", { "data-id": run.id });
    const now = [run.status, ageText(run.updatedAt)].join();
    if (item.dataset.now !== now) {
      item.dataset.now = now;
      const link = item.querySelector("a") ?? element("a", { href: `#/runs/${encodeURIComponent(run.id)}` });
      fill(link, entryView(run));
      if (link.parentElement === null) fill(item, link);
    }
    return item;
  });
  const isSame = items.length === list.children.length && items.every((item, at) => item === list.children[at]);
  if (!isSame) fill(list, items.length === 0 ? element("li", { class: "quiet" }, "No runs yet.") : items);
  markCurrent(list);
}

function entryView({ status, name, input, updatedAt }) {
  return [
    element("span", { class: `state ${status}` }, status),
    element("span", { class: "quiet" }, ` ${name} · ${ageText(updatedAt)}`),
    element("span", { class: "name" }, shortLine(input, 90) || "(no text)"),
  ];
}

function markCurrent(list) {
  for (const link of list.querySelectorAll("a")) {
    if (link.hash === location.hash) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}
