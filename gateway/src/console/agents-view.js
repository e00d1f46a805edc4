import { get } from "./api.js";
import { element, fill } from "./element.js";
import { ageText } from "./words.js";

const everyMs = 2_000;

/**
 * The known agents, their health and how their cards changed; kept up to date until `signal`
 * aborts.
 *
 * @param {AbortSignal} signal @param {(error: unknown) => void} report @returns {HTMLElement}
 */
export function agentsView(signal, report) {
  const list = element("ul", { class: "agents" });
  let shown = "";
  const keep = async () => {
    const { agents } = await get("/agents", signal);
    const now = JSON.stringify(agents);
    if (now !== shown)
      fill(list, agents.length === 0 ? element("li", { class: "quiet" }, "No agents.") : agents.map(agentView));
    shown = now;
    setTimeout(() => signal.aborted || start(), everyMs);
  };
  const start = () => void keep().catch((error) => signal.aborted || report(error));
  start();
  return element("section", { "aria-label": "Agents" }, element("h2", {}, "Agents"), list);
}

function agentView({ name, title = name, url, health, reason, breaker, model, sandbox, changes, card, checkedAt }) {
  const facts = [
    url,
    model?.name && `model ${model.name} (${model.provider})`,
    sandbox && `sandbox ${sandbox}`,
    breaker !== "closed" && `paused after failures (${breaker})`,
    checkedAt && `checked ${ageText(checkedAt)} ago`,
  ];
  return element(
    "li",
    {},
    element("h3", {}, title, " ", element("span", { class: `state ${health}` }, health)),
    element("p", { class: "quiet" }, facts.filter(Boolean).join(" · ")),
    reason !== undefined && element("p", { class: "error" }, reason),
    card?.description && element("p", {}, card.description),
    changes.length > 0 && element("h4", {}, "Card changes"),
    changes.length > 0 &&
      element(
        "ul",
        {},
        changes.map(({ at, what }) => element("li", {}, `${new Date(at).toLocaleString()}: ${what.join("; ")}`)),
      ),
  );
}
