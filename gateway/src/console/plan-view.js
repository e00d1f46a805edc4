import { element, fill } from "./element.js";

const marks = { not_started: " ", in_progress: "→", completed: "✓", blocked: "!" };
const meanings = { not_started: "not started", in_progress: "in progress", completed: "completed", blocked: "blocked" };

/**
 * The current plan of a run. `show` takes the data of a `plan-changed` event; the view is hidden
 * until the first one.
 *
 * @returns {{ root: HTMLElement, show(event: { steps: object[] }): void }}
 */
export function planView() {
  const list = element("ol", { class: "plan" });
  const root = element("section", { hidden: true, "aria-label": "Plan" }, element("h3", {}, "Plan"), list);
  return {
    root,
    show({ steps }) {
      root.hidden = steps.length === 0;
      fill(list, steps.map(stepView));
    },
  };
}

function stepView({ id, text, agent, dependsOn, notes, status }) {
  const after = dependsOn.length === 0 ? "" : ` · after ${dependsOn.join(", ")}`;
  return element(
    "li",
    { class: `step ${status}` },
    element("span", { class: "mark", role: "img", "aria-label": meanings[status] }, `[${marks[status] ?? " "}]`),
    element(
      "div",
      {},
      element("div", {}, text),
      element("div", { class: "quiet" }, `${id} · ${agent}${after}`),
      notes !== "" && element("div", { class: "quiet clamp", title: notes }, notes),
    ),
  );
}
