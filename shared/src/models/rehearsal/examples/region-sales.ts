import { excerpt } from "../compute-twice.ts";
import { writeAndVerify } from "../orders-file.ts";
import { type Acting, finish, type Scene, type Script } from "../script.ts";

/** The tasks of examples that are about the revenue of regions. */
export const salesTasks = {
  planning: "Find out from orders.csv which region sold most, and write a short report about it.",
  sequential: "Compute the revenue per region from orders.csv, then write a short summary for the management.",
  conditional: "Which region sold most?",
} as const;

/** The steps of the plan for the first of them. */
export const salesSteps = {
  compute: "Compute the revenue per region in orders.csv",
  report: "Write report.md about the region that sold most",
} as const;

const sql = "SELECT region, sum(revenue) AS revenue FROM 'orders.csv' GROUP BY region ORDER BY revenue DESC, region";

/** Computes with SQL and tells the figures in one sentence, in which others find them. */
function* compute(scene: Scene) {
  if (!scene.tools.has("sql_query"))
    return finish(scene, "failure", "This needs sql_query, which is not offered here.");
  const [result = ""]: readonly string[] = yield {
    say: "I am the rehearsal model, a script. I add up the revenue of each region.",
    calls: [{ name: "sql_query", args: { sql } }],
  };
  const rows = [...result.matchAll(/^([a-z]+) \| (\d+(?:\.\d+)?)$/gm)].map(([, region, sum]) => `${region} ${sum}`);
  const [most] = rows;
  if (most === undefined) return finish(scene, "failure", `The revenue could not be computed: ${excerpt(result)}`);
  return finish(scene, "success", `Revenue per region: ${rows.join(", ")}. Most: ${most}.`, "Done.");
}

/** Writes what another agent computed into a file. */
function* report(scene: Scene, file: string) {
  const told = /Revenue per region: ([^\n]*)\. Most: ([a-z]+ [\d.]+)\./.exec(scene.text);
  if (told === null) return finish(scene, "failure", "Nobody has told me the revenue of the regions.");
  const [, all = "", most = ""] = told;
  const text = `# Revenue by region\n\n${most} is the most.\n\n${all
    .split(", ")
    .map((row) => `- ${row}\n`)
    .join("")}`;
  const must = all.split(", ");
  const say = "I am the rehearsal model, a script. I write down what DataAnalysis computed.";
  const written: boolean = yield* writeAndVerify(scene, { file, text, must, say }, []);
  if (!written) return finish(scene, "failure", `No tool here could write ${file}.`);
  return finish(scene, "success", `${file} says that ${most} is the most, with the revenue of each region.`, "Done.");
}

const writing = (task: string, file: string): Script => ({
  task,
  play: (scene): Acting<ReturnType<typeof finish>> => report(scene, file),
});
const computing = (task: string): Script => ({ task, play: compute });

/** The agents' parts in these examples. What stands first is looked for first: later messages quote the earlier ones. */
export const regionSales: readonly Script[] = [
  writing(`Your step: ${salesSteps.report}`, "report.md"),
  computing(`Your step: ${salesSteps.compute}`),
  writing(`The task: ${salesTasks.sequential}`, "summary.md"),
  { ...computing(salesTasks.sequential), title: `${salesTasks.sequential} (flow sequential)` },
  { ...computing(salesTasks.conditional), title: `${salesTasks.conditional} (flow conditional)` },
];
