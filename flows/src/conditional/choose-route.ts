import { AppError } from "manyhands";
import type { Flow } from "manyhands/flows";
import { classify } from "./classify.ts";
import type { Choice, Route, Unsure } from "./route.ts";
import { ruleReason } from "./rule.ts";

/** How a branch of the task is chosen. */
type ChooseOptions = {
  readonly classify: "both" | "rules" | "model";
  readonly confidence: number;
  readonly unsure: "default" | "ask";
  /** The name of the route to take if none fits. */
  readonly default?: string | undefined;
  /**
   * Whether a person sees numbers before the routes: not if a name is itself a number, unless
   * `always`, as in the first body.
   */
  readonly numbering?: "always";
};

/**
 * Chooses one route: by the rules, the model, the person, or else the default. Rejects with
 * `rejected` if none fits.
 */
export async function chooseRoute(flow: Flow, routes: readonly Route[], options: ChooseOptions): Promise<Choice> {
  const found = await findRoute(flow, routes, options);
  if ("route" in found) return found;
  const asked = options.unsure === "ask" ? await askRoute(flow, routes, found.unsure, options) : found;
  if ("route" in asked) return asked;
  const fallback = routes.find(({ name }) => name === options.default);
  if (fallback === undefined) throw new AppError("rejected", `No branch fits: ${asked.unsure}`);
  return { route: fallback, by: "default", reason: asked.unsure };
}

async function findRoute(flow: Flow, routes: readonly Route[], options: ChooseOptions): Promise<Choice | Unsure> {
  if (options.classify !== "model") {
    const choice = await applyRules(flow, routes);
    if (choice !== undefined) return choice;
  }
  if (options.classify !== "rules") return classify(flow, routes, options.confidence);
  return { unsure: "No rule holds." };
}

/**
 * The first route with a rule that holds. Recorded, since a later version may read rules
 * differently.
 */
async function applyRules(flow: Flow, routes: readonly Route[]): Promise<Choice | undefined> {
  if (routes.every(({ rules }) => rules.length === 0)) return undefined;
  const held = await flow.run.step(
    "apply rules",
    async () => {
      const reasons = routes.map(({ rules }) => rules.map((rule) => ruleReason(rule, flow)).find(Boolean));
      const index = reasons.findIndex((reason) => reason !== undefined);
      return index === -1 ? null : { index, reason: reasons[index] ?? "" };
    },
    { effect: "pure" },
  );
  const route = held === null ? undefined : routes[held.index];
  return route === undefined ? undefined : { route, by: "rule", reason: held?.reason ?? "" };
}

/** How often the person is asked if an answer names no route. */
const maxQuestions = 3;

/**
 * Asks the person behind the task to choose, by name, or number where those are told apart. If the
 * model may interpret other words, it needs the confidence.
 */
async function askRoute(
  flow: Flow,
  routes: readonly Route[],
  why: string,
  options: ChooseOptions,
): Promise<Choice | Unsure> {
  const isNumbered = options.numbering === "always" || routes.every(({ name }) => numberIn(name) === undefined);
  const list = routes
    .map(({ name, when }, index) => `${isNumbered ? `${index + 1}.` : "-"} ${name}${when === "" ? "" : `: ${when}`}`)
    .join("\n");
  const by = isNumbered ? "a number or a name" : "a name";
  const said: string[] = [];
  let fault = "";
  for (let asked = 0; asked < maxQuestions; asked++) {
    const question = `${fault}Which way should this task go? ${why}\n\n${list}\n\nAnswer with ${by}.`;
    const answer = (await flow.askPerson(question)).trim();
    const route = routeMeant(answer, routes, isNumbered);
    const reason = `The answer was: ${answer.slice(0, 200)}`;
    if (route !== undefined) return { route, by: "person", reason, said };
    if (answer !== "") said.push(answer);
    const meant =
      options.classify === "rules" || answer === ""
        ? undefined
        : await classify(flow, routes, options.confidence, said);
    if (meant !== undefined && "route" in meant) return { route: meant.route, by: "person", reason, said };
    fault = `"${answer.slice(0, 100)}" names none of them.\n\n`;
  }
  return { unsure: `${why} No answer named a branch.` };
}

/** The route that an answer means by its number, if they have some, or name. */
function routeMeant(answer: string, routes: readonly Route[], isNumbered: boolean): Route | undefined {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, "-")
      .replaceAll(/[.!"']/g, "");
  const number = isNumbered ? numberIn(answer) : undefined;
  return number === undefined ? routes.find(({ name }) => plain(name) === plain(answer)) : routes[number - 1];
}

/** The number that a text is, perhaps with signs after it. */
function numberIn(text: string): number | undefined {
  const digits = /^\s*(\d+)\b\W*$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
