import { checking, doing, shownFiles, stepReports } from "../flow-messages.ts";
import {
  type Acting,
  decision,
  excerpt,
  finish,
  type Scene,
  type Script,
  type ScriptedTurn,
  words,
} from "../script.ts";
import { writeAndVerify } from "../write-and-verify.ts";

/** The tasks of the examples about revenue by region. */
const salesTasks = {
  planning: "Find out from orders.csv which region sold most, and write a short report about it.",
  sequential: "Compute the revenue per region from orders.csv, then write a short summary for the management.",
  conditional: "Which region sold most?",
} as const;

/** The steps of the plan for the first of them. */
const salesSteps = {
  compute: "Compute the revenue per region in orders.csv",
  report: "Write report.md about the region that sold most",
} as const;

const sql = "SELECT region, sum(revenue) AS revenue FROM 'orders.csv' GROUP BY region ORDER BY revenue DESC, region";

/** Computes with SQL and states the figures in one sentence, which other scripts search for. */
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

/** Writes another agent's figures into a file. */
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

/** The branch for tables among those that a conditional flow describes, else the first. */
function branchForTables(text: string): ScriptedTurn {
  const branches = [...text.matchAll(/^- ([^:\n]+): (.*)$/gm)].map(([, name = "", when = ""]) => ({ name, when }));
  const chosen = branches.find(({ name, when }) => /table|data/i.test(`${name} ${when}`)) ?? branches[0];
  const reason = "The task is about figures, and a table of them is with it.";
  return decision("choose_branch", { branch: chosen?.name ?? "none", confidence: 0.9, reason });
}

const writing = (task: string, file: string): Script => ({
  task,
  play: (scene): Acting<ReturnType<typeof finish>> => report(scene, file),
});
const computing = (task: string): Script => ({ task, play: compute });

/**
 * The agents' parts in these examples. Order matters, since the first match wins: later messages
 * quote earlier ones.
 */
export const regionSales: readonly Script[] = [
  { task: salesTasks.conditional, decides: "choose_branch", play: ({ text }) => branchForTables(text) },
  writing(doing(salesSteps.report), "report.md"),
  computing(doing(salesSteps.compute)),
  writing(`The task: ${salesTasks.sequential}`, "summary.md"),
  { ...computing(salesTasks.sequential), title: `${salesTasks.sequential} (flow sequential)` },
  { ...computing(salesTasks.conditional), title: `${salesTasks.conditional} (flow conditional)` },
];

const task = `The task: ${salesTasks.planning}`;

const steps = [
  {
    id: "compute",
    agent: "data-analysis",
    text: salesSteps.compute,
    depends_on: [],
    expected: "the revenue of each region, and the most",
  },
  {
    id: "report",
    agent: "manus",
    text: salesSteps.report,
    depends_on: ["compute"],
    expected: "report.md with the revenue of each region",
    delivers: ["report.md"],
  },
];

/** The flow's own model calls in the planning flow's example. */
export const planSales: readonly Script[] = [
  {
    task,
    decides: "planning",
    play: ({ text }) =>
      text.includes("What came of the plan so far:")
        ? decision("planning", { command: "update", verdict: "impossible", reason: "I know no other way.", steps: [] })
        : decision("planning", { command: "create", title: "Who sold most", steps }),
  },
  check(salesSteps.compute, /Revenue per region: .*Most: [^\n.]+\./),
  {
    title: `${salesTasks.planning} (flow planning)`,
    task,
    play({ text, tools }) {
      const isWritten = shownFiles(text).some((file) => file.name === "report.md" && / is the most\./.test(file.text));
      const missing = [{ what: "The report", reason: "report.md does not say which region sold most." }];
      if (tools.has("check_task") && !isWritten) return decision("check_task", { missing });
      const lines = stepReports(text).map((step) => `- ${step.agent}: ${step.text || step.reason}`);
      return words(lines.join("\n"));
    },
  },
];

/** A check that a step is done: its report must match this. */
function check(step: string, sign: RegExp): Script {
  return {
    task: checking(step),
    decides: "check_step",
    play({ text }) {
      const found = sign.exec(text);
      return found === null
        ? decision("check_step", { verdict: "not_met", evidence: "", reason: "What was expected is not there." })
        : decision("check_step", { verdict: "met", evidence: found[0], reason: "It is there." });
    },
  };
}
