import { get, post } from "./api.js";
import { element, fill } from "./element.js";
import { filesView } from "./files-view.js";
import { followRun } from "./follow-run.js";
import { liveView } from "./live-view.js";
import { markdownView } from "./markdown.js";
import { planView } from "./plan-view.js";
import { replyForm } from "./reply-form.js";
import { timelineView } from "./timeline-view.js";
import { usageText } from "./words.js";

/** Events that store what was shown live. */
const settling = new Set(["model-replied", "tool-ended", "agent-answered", "run-ended", "question-asked"]);
const refreshMs = 100;

/**
 * One run: its state, plan, answer, files and what happened, kept up to date until `signal` aborts.
 *
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {(error: unknown) => void} report
 * @returns {HTMLElement}
 */
export function runView(id, signal, report) {
  const [plan, timeline, live] = [planView(), timelineView(), liveView()];
  const reply = replyForm(id, report);
  const [head, result] = [element("div", { class: "head" }), element("section", { "aria-label": "Result" })];
  const broken = element("p", { class: "broken", hidden: true, role: "status" }, "Connection lost, reconnecting …");
  const path = `/runs/${encodeURIComponent(id)}`;
  const act = (verb) => post(`${path}/${verb}`, {}).then(refresh, report);
  let shown = "";
  async function refresh() {
    const run = await get(path, signal);
    const now = JSON.stringify(run);
    if (now === shown) return;
    shown = now;
    fill(head, headView(run, act));
    fill(result, resultView(run));
    reply.show(run);
  }
  let timer;
  const refreshSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => refresh().catch((error) => signal.aborted || report(error)), refreshMs);
  };
  void (async () => {
    await refresh();
    for await (const item of followRun(id, signal)) {
      if (item.connected !== undefined) broken.hidden = item.connected;
      else if (item.progress !== undefined) live.add(item.progress);
      else {
        timeline.add(item);
        if (item.event.type === "plan-changed") plan.show(item.event.data);
        if (settling.has(item.event.type)) live.clear();
        refreshSoon();
      }
    }
  })().catch((error) => signal.aborted || report(error));
  return element("article", { class: "run" }, head, broken, plan.root, reply.root, result, live.root, timeline.root);
}

function headView(run, act) {
  const isActive = !["completed", "failed", "canceled"].includes(run.status);
  return [
    element(
      "div",
      { class: "title" },
      element("h2", {}, run.name),
      element("span", { class: `state ${run.status}`, role: "status" }, run.status),
      isActive && element("button", { onclick: () => void act("cancel") }, "Cancel"),
      run.status === "paused" && element("button", { class: "primary", onclick: () => void act("resume") }, "Resume"),
    ),
    element("p", { class: "task" }, run.input),
    element(
      "p",
      { class: "quiet" },
      `${usageText(run.usage)} · started ${new Date(run.createdAt).toLocaleString()} · ${run.id}`,
    ),
    isActive &&
      run.question === undefined &&
      run.progress !== undefined &&
      element("p", { class: "progress" }, run.progress),
    run.error !== undefined && element("p", { class: "error" }, `${run.error.message} (${run.error.code})`),
  ];
}

function resultView({ answer, data, files }) {
  return [
    answer !== undefined && [element("h3", {}, "Answer"), markdownView(answer)],
    data !== undefined &&
      element("details", {}, element("summary", {}, "As data"), element("pre", {}, JSON.stringify(data, undefined, 2))),
    files.length > 0 && [element("h3", {}, "Files"), filesView(files)],
  ];
}
