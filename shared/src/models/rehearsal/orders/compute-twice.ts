import { type Acting, excerpt, type Scene, type ScriptCall } from "../script.ts";
import { agree, type Figures, money, readFigures, totalsOf } from "./orders-figures.ts";
import { oddities } from "./orders-markdown.ts";
import { waysFor } from "./orders-ways.ts";

/** Figures that two ways of computing agreed on, and which ways these were. */
export type Confirmed = { readonly figures: Figures; readonly ways: readonly string[] };

/**
 * The plan beside the work, as calls to add to a turn; empty if there is no planning tool, or it
 * failed.
 */
export type ScriptedPlan = {
  mark(step: number, status: "in_progress" | "completed" | "blocked"): readonly ScriptCall[];
};

/**
 * Computes in one way after another until two agree; otherwise returns a sentence about what went
 * wrong.
 */
export function* computeTwice(scene: Scene, plan: ScriptedPlan): Acting<Confirmed | string> {
  const found: { readonly title: string; readonly figures: Figures }[] = [];
  let news = "The columns are as expected.";
  let marks = plan.mark(0, "completed");
  for (const { title, call } of waysFor(scene)) {
    const purpose = found.length === 0 ? "I compute the figures" : "I check the figures";
    const [output = ""] = yield { say: `${news} ${purpose} with ${title}.`, calls: [call, ...marks] };
    marks = [];
    const figures = readFigures(output);
    if (figures === undefined) {
      news = `That gave no figures (${excerpt(output)}).`;
      continue;
    }
    const match = found.find((earlier) => agree(earlier.figures, figures));
    if (match !== undefined) return { figures, ways: [match.title, title] };
    if (found.length === 0) marks = plan.mark(1, "completed");
    news = found.length === 0 ? tellingOf(figures) : `The two differ: ${differenceOf(found, figures)}. I need a third.`;
    found.push({ title, figures });
  }
  if (found.length === 0) return `No tool here could compute the figures. ${news}`;
  if (found.length === 1)
    return `Only ${found[0]?.title} gave figures, so they could not be checked a second way. ${news}`;
  return `The figures differ between ${found.map((way) => way.title).join(", ")}, so I write no report.`;
}

/** The figures in a sentence. */
export function tellingOf(figures: Figures): string {
  const { cents, orders, bestMonth } = totalsOf(figures);
  return `Revenue is ${money(cents)} from ${orders} orders; the best month is ${bestMonth[0]}.`;
}

/** The figures of each region and the oddities, one per line. */
export function tellingMore(figures: Figures): readonly string[] {
  const regions = Object.entries(figures.regions).map(
    ([region, { cents, orders }]) =>
      `${region} ${money(cents)} from ${orders} orders (${money(cents / Math.max(1, orders))} each)`,
  );
  return [`By region: ${regions.join("; ")}.`, `Odd in the data: ${oddities(figures).join(" ")}`];
}

function differenceOf(found: readonly { readonly figures: Figures }[], figures: Figures): string {
  return [...found.map((way) => way.figures), figures].map((each) => money(totalsOf(each).cents)).join(" against ");
}
