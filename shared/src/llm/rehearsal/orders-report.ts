import { agree, type Figures, money, readFigures, totalsOf } from "./orders-figures.ts";
import { writeAndVerify } from "./orders-file.ts";
import { oddities, ordersMarkdown } from "./orders-markdown.ts";
import { makePlan, type Plan } from "./orders-plan.ts";
import { waysFor } from "./orders-ways.ts";
import { type Acting, finish, type Scene, type Script, type ScriptCall } from "./script.ts";

const introduction =
  "I am the rehearsal model: a script that plays this one task over real tools, not a language model.";

/** The demo task: figures from a CSV file, computed two ways, and a report that is read back. */
export const ordersReport: Script = {
  title: "Summarise orders.csv … then write report.md",
  task: "Summarise orders.csv: total revenue, orders and average order value per region, the best month, and anything odd in the data. Check your numbers a second way, then write report.md.",
  *play(scene) {
    if (waysFor(scene).length === 0) {
      const missing = "This needs bash or python_execute, and neither tool is offered here.";
      return finish(scene, "failure", `${introduction} ${missing}`, introduction);
    }
    const plan = yield* makePlan(scene, `${introduction} First a plan.`);
    const problem = yield* lookAtFile(scene, plan);
    if (problem !== undefined) return finish(scene, "failure", problem);
    const confirmed = yield* computeTwice(scene, plan);
    if (typeof confirmed === "string") return finish(scene, "failure", confirmed);
    const { figures, ways } = confirmed;
    const written = yield* writeAndVerify(
      scene,
      {
        file: "report.md",
        text: ordersMarkdown(figures, ways),
        must: ["Orders summary", money(totalsOf(figures).cents), ...Object.keys(figures.regions)],
        say: `${capitalised(ways.join(" and "))} agree to the cent. Now the report.`,
      },
      plan.mark(2, "completed"),
    );
    if (!written) return finish(scene, "failure", "I computed the figures, but no tool here could write report.md.");
    const last = plan.mark(3, "completed");
    if (last.length > 0) yield { say: "The report holds the figures.", calls: last };
    return finish(scene, "success", summaryOf(figures, ways), "Done.");
  },
};

/** Looks at the head and the size of the file; comes to what is wrong with it, if anything is. */
function* lookAtFile(scene: Scene, plan: Plan): Acting<string | undefined> {
  const looks: readonly ScriptCall[] = [
    { name: "bash", args: { command: "head -n 5 orders.csv && wc -l orders.csv" } },
    {
      name: "python_execute",
      args: { code: 'lines = open("orders.csv").readlines()\nprint("".join(lines[:5]), len(lines), "lines")' },
    },
  ];
  let seen = "";
  for (const look of looks.filter((call) => scene.tools.has(call.name))) {
    const say = "I look at the file before I compute anything.";
    [seen = ""] = yield { say, calls: [look, ...plan.mark(0, "in_progress")] };
    if (seen.includes("order_id,date,region,product,quantity,unit_price,status")) return undefined;
  }
  return `orders.csv could not be read, or has other columns than I know. What I saw: ${excerpt(seen)}`;
}

type Confirmed = { readonly figures: Figures; readonly ways: readonly string[] };

/** Computes in one way after the other until two came to the same; comes to a sentence about what went wrong otherwise. */
function* computeTwice(scene: Scene, plan: Plan): Acting<Confirmed | string> {
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

function tellingOf(figures: Figures): string {
  const { cents, orders, bestMonth } = totalsOf(figures);
  return `Revenue is ${money(cents)} from ${orders} orders; the best month is ${bestMonth[0]}.`;
}

function differenceOf(found: readonly { readonly figures: Figures }[], figures: Figures): string {
  return [...found.map((way) => way.figures), figures].map((each) => money(totalsOf(each).cents)).join(" against ");
}

function summaryOf(figures: Figures, ways: readonly string[]): string {
  const regions = Object.entries(figures.regions).map(
    ([region, { cents, orders }]) =>
      `${region} ${money(cents)} from ${orders} orders (${money(cents / Math.max(1, orders))} each)`,
  );
  return [
    `report.md is written and verified. ${tellingOf(figures)}`,
    `By region: ${regions.join("; ")}.`,
    `Odd in the data: ${oddities(figures).join(" ")}`,
    `Computed with ${ways.join(" and checked with ")}; both agree exactly. This was the rehearsal model, a script and no language model.`,
  ].join("\n");
}

/** The end of a tool's result, where errors are. */
function excerpt(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(-200) || "nothing";
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
