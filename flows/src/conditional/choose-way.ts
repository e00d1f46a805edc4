import { AppError } from "manyhands";
import type { Flow } from "manyhands/flows";
import { classify } from "./classify.ts";
import { ruleReason } from "./rule.ts";
import type { Choice, Unsure, Way } from "./way.ts";

/** How a branch of the task is chosen. */
type ChooseOptions = {
  readonly classify: "both" | "rules" | "model";
  readonly confidence: number;
  readonly unsure: "default" | "ask";
  /** The name of the way to take if none fits. */
  readonly default?: string | undefined;
};

/**
 * Chooses one way: by the rules, the model, the person, or else the default. Rejects with
 * `rejected` if none fits.
 */
export async function chooseWay(flow: Flow, ways: readonly Way[], options: ChooseOptions): Promise<Choice> {
  const found = await findWay(flow, ways, options);
  if ("way" in found) return found;
  const confidence = options.classify === "rules" ? undefined : options.confidence;
  const asked = options.unsure === "ask" ? await askWay(flow, ways, found.unsure, confidence) : found;
  if ("way" in asked) return asked;
  const fallback = ways.find(({ name }) => name === options.default);
  if (fallback === undefined) throw new AppError("rejected", `No branch fits: ${asked.unsure}`);
  return { way: fallback, by: "default", reason: asked.unsure };
}

async function findWay(flow: Flow, ways: readonly Way[], options: ChooseOptions): Promise<Choice | Unsure> {
  if (options.classify !== "model") {
    const choice = await applyRules(flow, ways);
    if (choice !== undefined) return choice;
  }
  if (options.classify !== "rules") return classify(flow, ways, options.confidence);
  return { unsure: "No rule holds." };
}

/**
 * The first way with a rule that holds. Recorded, since a later version may read rules differently.
 */
async function applyRules(flow: Flow, ways: readonly Way[]): Promise<Choice | undefined> {
  if (ways.every(({ rules }) => rules.length === 0)) return undefined;
  const held = await flow.run.step(
    "apply rules",
    async () => {
      const reasons = ways.map(({ rules }) => rules.map((rule) => ruleReason(rule, flow)).find(Boolean));
      const index = reasons.findIndex((reason) => reason !== undefined);
      return index === -1 ? null : { index, reason: reasons[index] ?? "" };
    },
    { effect: "pure" },
  );
  const way = held === null ? undefined : ways[held.index];
  return way === undefined ? undefined : { way, by: "rule", reason: held?.reason ?? "" };
}

/** How often the person is asked if an answer names no way. */
const maxQuestions = 3;

/**
 * Asks the person behind the task to choose, by number or name. If the model may interpret other
 * words, it needs this confidence.
 */
async function askWay(
  flow: Flow,
  ways: readonly Way[],
  why: string,
  confidence: number | undefined,
): Promise<Choice | Unsure> {
  const list = ways.map(({ name, when }, index) => `${index + 1}. ${name}${when === "" ? "" : `: ${when}`}`).join("\n");
  const said: string[] = [];
  let fault = "";
  for (let asked = 0; asked < maxQuestions; asked++) {
    const question = `${fault}Which way should this task go? ${why}\n\n${list}\n\nAnswer with a number or a name.`;
    const answer = (await flow.askPerson(question)).trim();
    const way = wayNamed(answer, ways);
    const reason = `The answer was: ${answer.slice(0, 200)}`;
    if (way !== undefined) return { way, by: "person", reason, said };
    if (answer !== "") said.push(answer);
    const meant = confidence === undefined || answer === "" ? undefined : await classify(flow, ways, confidence, said);
    if (meant !== undefined && "way" in meant) return { way: meant.way, by: "person", reason, said };
    fault = `"${answer.slice(0, 100)}" names none of them.\n\n`;
  }
  return { unsure: `${why} No answer named a branch.` };
}

/** The way that an answer means by its number or name. */
function wayNamed(answer: string, ways: readonly Way[]): Way | undefined {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, "-")
      .replaceAll(/[.!"']/g, "");
  const number = /^\s*(\d+)\b\W*$/.exec(answer)?.[1];
  return number === undefined ? ways.find(({ name }) => plain(name) === plain(answer)) : ways[Number(number) - 1];
}
