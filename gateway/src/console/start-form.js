import { get, newKey, post } from "./api.js";
import { element, fill } from "./element.js";
import { optionFields } from "./option-fields.js";

/**
 * The form that starts a run of a flow or an agent and then opens its page.
 *
 * @param {(error: unknown) => void} report
 * @returns {HTMLElement}
 */
export function startForm(report) {
  const root = element("section", { "aria-label": "New run" }, element("h2", {}, "New run"));
  Promise.all([get("/flows"), get("/agents")]).then(
    ([{ flows }, { agents }]) => root.append(form(flows, agents, report)),
    report,
  );
  return root;
}

function form(flows, agents, report) {
  const what = element("select", { id: "what", onchange: () => choose() }, [
    group("Flows", flows),
    group("One agent", agents),
  ]);
  const about = element("p", { class: "quiet", id: "about-what" });
  const task = element("textarea", { id: "task", rows: 5, placeholder: "What should be done?" });
  const files = element("input", { id: "files", type: "file", multiple: true });
  const budget = element("input", { id: "budget", type: "number", min: 0, step: "any", placeholder: "no limit" });
  const chosen = agentsField(agents);
  const place = element("div");
  const button = element("button", { class: "primary" }, "Start");
  let options;
  let key = newKey();
  function choose() {
    const flow = flows.find(({ name }) => name === what.value);
    const agent = agents.find(({ name }) => name === what.value);
    options = optionFields(flow?.options ?? {});
    fill(place, options.root);
    fill(about, flow?.description ?? agent?.card?.description ?? "");
    chosen.root.hidden = flow === undefined;
  }
  async function send() {
    const given = await incomingFiles(files.files);
    const isFlow = !chosen.root.hidden;
    const set = { agents: isFlow ? chosen.values() : [], options: options.values() };
    const input = {
      ...(task.value !== "" && { text: task.value }),
      ...(given.length > 0 && { files: given }),
    };
    const body = {
      input,
      ...(set.agents.length > 0 && { agents: set.agents }),
      ...(Object.keys(set.options).length > 0 && { options: set.options }),
      ...(budget.value !== "" && { budget: { usd: budget.valueAsNumber } }),
    };
    const { runId } = await post(`/flows/${encodeURIComponent(what.value)}`, body, { "Idempotency-Key": key });
    location.hash = `#/runs/${encodeURIComponent(runId)}`;
  }
  const onsubmit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await send();
    } catch (error) {
      // A refused request is corrected and gets a new key; one without a response is sent again
      // under the same key.
      if (error.status !== undefined) key = newKey();
      report(error);
    } finally {
      button.disabled = false;
    }
  };
  const made = element(
    "form",
    { class: "start", onsubmit: (event) => void onsubmit(event), onkeydown: (event) => submitBy(event, made) },
    field("Flow or agent", what, about),
    field("Task", task),
    field("Files", files),
    chosen.root,
    place,
    field("Spending limit (USD)", budget),
    button,
  );
  choose();
  return made;
}

function submitBy(event, made) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) made.requestSubmit();
}

function field(label, input, note) {
  return element("div", { class: "field" }, element("label", { for: input.id }, label), input, note);
}

function group(label, list) {
  const named = list.map(({ name, title }) => element("option", { value: name }, title ?? name));
  return element("optgroup", { label, disabled: named.length === 0 }, named);
}

/** The agents of a flow, in order: typed, or added by a click on their names. */
function agentsField(agents) {
  const input = element("input", { id: "agents", placeholder: "all, or names, URLs or skills separated by commas" });
  const values = () => input.value.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  const names = agents.map(({ name }) => {
    const onclick = () => {
      input.value = [...values(), name].join(", ");
    };
    return element("button", { type: "button", class: "chip", onclick }, `+ ${name}`);
  });
  return { root: field("Agents, in order", input, element("div", { class: "chips" }, names)), values };
}

/** The largest request, with room for what base64 adds. */
const mostBytes = 7_000_000;

/**
 * The chosen files with their content in base64. Rejects with an Error when they are too large for
 * one request.
 *
 * @param {FileList} chosen @returns {Promise<{ name: string, mediaType?: string, bytes: string
 * }[]>}
 */
async function incomingFiles(chosen) {
  const files = [...chosen];
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > mostBytes) throw new Error("The files exceed 7 MB in total; send links to them instead.");
  return Promise.all(
    files.map(async (file) => ({
      name: file.name,
      ...(file.type !== "" && { mediaType: file.type }),
      bytes: await base64(file),
    })),
  );
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}
