import { agentsView } from "./agents-view.js";
import { get, request } from "./api.js";
import { element, fill } from "./element.js";
import { runList } from "./run-list.js";
import { runView } from "./run-view.js";
import { startForm } from "./start-form.js";

const noticeMs = 12_000;
const [main, side, notices, facts, person] = ["main", "side", "notices", "facts", "person"].map((id) =>
  document.getElementById(id),
);

/** Shows the user a failure, for a while. */
function report(error) {
  const notice = element("p", { class: "notice" }, error.message);
  notices.append(notice);
  setTimeout(() => notice.remove(), noticeMs);
}

const page = { left: new AbortController() };

/** Shows what the address asks for: a run, the agents, or the form for a new run. */
function show() {
  page.left.abort();
  page.left = new AbortController();
  const { signal } = page.left;
  const [, place = "", id = ""] = location.hash.split("/");
  document.body.dataset.place = place;
  if (place === "runs") fill(main, runView(decodeURIComponent(id), signal, report));
  else if (place === "agents") fill(main, agentsView(signal, report));
  else fill(main, startForm(report));
  scrollTo(0, 0);
}

addEventListener("hashchange", show);
show();
side.append(runList(report));
get("/healthz").then(({ model, version }) => fill(facts, `${model.name} (${model.provider}) · ${version}`), report);

/** Shows who is signed in, and lets them sign out. */
function showPerson({ principal }) {
  if (principal === undefined) return;
  const leave = async () => {
    await request("/auth/sign-out", { method: "POST" });
    location.reload();
  };
  const out = element("button", { type: "button", onclick: () => leave().catch(report) }, "Sign out");
  fill(person, `${principal} `, out);
}

if (document.body.dataset.signIn !== undefined) get("/auth/session").then(showPerson, report);
