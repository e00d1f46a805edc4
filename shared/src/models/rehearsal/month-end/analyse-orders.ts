import { doing } from "../flow-messages.ts";
import { computeTwice, tellingMore, tellingOf } from "../orders/compute-twice.ts";
import { type Figures, money } from "../orders/orders-figures.ts";
import { type Acting, excerpt, finish, type Script, type ScriptCall } from "../script.ts";
import { monthEndSteps } from "./month-end-steps.ts";

const chartData = "visualization/revenue_by_month.csv";
const chartTitle = "Revenue by month, completed orders";

/**
 * DataAnalysis's part of the demo: describes the file, computes figures twice, and draws a chart.
 */
export const analyseOrders: Script = {
  task: doing(monthEndSteps.analyse),
  *play(scene) {
    if (!scene.tools.has("sql_query"))
      return finish(scene, "failure", "This step needs sql_query, which is not offered.");
    const [described = ""] = yield {
      say: "I am the rehearsal model, a script. I look at the file before I compute anything.",
      calls: [{ name: "describe_data", args: { path: "orders.csv" } }],
    };
    if (!["order_id", "unit_price", "status"].every((column) => described.includes(column)))
      return finish(scene, "failure", `orders.csv is missing or has other columns than I know: ${excerpt(described)}`);
    const confirmed = yield* computeTwice(scene, { mark: () => [] });
    if (typeof confirmed === "string") return finish(scene, "failure", confirmed);
    const { figures, ways } = confirmed;
    const chart = yield* drawMonths(figures, `${ways.join(" and ")} agree to the cent. Now the chart.`);
    if (!chart.ok) return finish(scene, "failure", `The figures are there, but no chart could be drawn: ${chart.why}`);
    const summary = [
      tellingOf(figures),
      ...tellingMore(figures),
      `Computed with ${ways.join(" and checked with ")}; both agree exactly.`,
      `The chart is ${chart.path}${chart.finding}; the figures are in figures.json, money in cents.`,
    ];
    return finish(scene, "success", summary.join("\n"), "Done.");
  },
};

type Drawn =
  | { readonly ok: true; readonly path: string; readonly finding: string }
  | { readonly ok: false; readonly why: string };

/**
 * Writes the figures to a file and draws them; retries if a server restart interrupted the drawing.
 */
function* drawMonths(figures: Figures, say: string): Acting<Drawn> {
  const months = Object.entries(figures.months).sort(([a], [b]) => a.localeCompare(b));
  const rows = months.map(([month, cents]) => `${month},${money(cents).replaceAll(",", "")}\n`).join("");
  yield {
    say,
    calls: [create("figures.json", `${JSON.stringify(figures)}\n`), create(chartData, `month,revenue\n${rows}`)],
  };
  const draw = {
    name: "data_visualization",
    args: { charts: [{ csvFilePath: chartData, chartTitle }], output_type: "png" },
  };
  let drawn = "";
  for (const words of ["I draw the revenue of each month.", "The drawing was interrupted. I draw it again."]) {
    [drawn = ""] = yield { say: words, calls: [draw] };
    const path = /Chart saved in: (\S+\.png)/.exec(drawn)?.[1];
    const finding = /^1\. (.*)$/m.exec(drawn)?.[1];
    if (path !== undefined) return { ok: true, path, finding: finding === undefined ? "" : ` (${finding})` };
    if (!drawn.startsWith("Interrupted")) break;
  }
  return { ok: false, why: excerpt(drawn) };
}

function create(path: string, text: string): ScriptCall {
  return { name: "str_replace_editor", args: { command: "create", path, file_text: text } };
}
