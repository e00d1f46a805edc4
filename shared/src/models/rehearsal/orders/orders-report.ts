import { type Acting, excerpt, finish, type Scene, type Script, type ScriptCall } from "../script.ts";
import { writeAndVerify } from "../write-and-verify.ts";
import { computeTwice, type ScriptedPlan, tellingMore, tellingOf } from "./compute-twice.ts";
import { type Figures, money, totalsOf } from "./orders-figures.ts";
import { ordersMarkdown } from "./orders-markdown.ts";
import { waysFor } from "./orders-ways.ts";

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

/** Reads the beginning and the size of the file; returns what is wrong with it, if anything. */
function* lookAtFile(scene: Scene, plan: ScriptedPlan): Acting<string | undefined> {
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

function summaryOf(figures: Figures, ways: readonly string[]): string {
  return [
    `report.md is written and verified. ${tellingOf(figures)}`,
    ...tellingMore(figures),
    `Computed with ${ways.join(" and checked with ")}; both agree exactly. This was the rehearsal model, a script, not a language model.`,
  ].join("\n");
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const steps = ["Look at orders.csv", "Compute the figures", "Check them a second way", "Write and verify report.md"];

/** Makes the plan. If the planning tool fails, the work continues without it. */
function* makePlan(scene: Scene, say: string): Acting<ScriptedPlan> {
  const planId = "orders-report";
  if (!scene.tools.has("planning")) return { mark: () => [] };
  const args = { command: "create", plan_id: planId, title: "Summarise orders.csv", steps };
  const [result = ""] = yield { say, calls: [{ name: "planning", args }] };
  if (!result.includes(steps[0] ?? "")) return { mark: () => [] };
  return {
    mark: (step, status) => [
      { name: "planning", args: { command: "mark_step", plan_id: planId, step_index: step, step_status: status } },
    ],
  };
}
