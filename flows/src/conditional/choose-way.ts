import { AppError } from "manyhands";
import type { Flow } from "manyhands/flows";
import { askWay } from "./ask-way.ts";
import { classify } from "./classify.ts";
import { ruleReason } from "./rule.ts";
import type { Choice, Unsure, Way } from "./way.ts";

/** How a way is chosen. */
export type ChooseOptions = {
  readonly classify: "both" | "rules" | "model";
  readonly confidence: number;
  readonly unsure: "default" | "ask";
  /** The name of the way that is taken when none fits. */
  readonly default?: string | undefined;
};

/** Chooses one way: by the rules, by the model, by the person, else the default. Rejects with `rejected` when none fits. */
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

/** The first way of which a rule holds. Recorded: a later version may read rules in another way. */
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
