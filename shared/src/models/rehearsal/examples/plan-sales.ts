import { stepReports } from "../handover/step-reports.ts";
import { decision, type Script, words } from "../script.ts";
import { salesSteps, salesTasks } from "./region-sales.ts";

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

/** The flow's own questions in the planning flow's example. */
export const planSales: readonly Script[] = [
  {
    task,
    decides: "planning",
    play: ({ text }) =>
      text.includes("What came of the plan so far:")
        ? decision("planning", { command: "update", verdict: "impossible", reason: "I know no other way.", steps: [] })
        : decision("planning", { command: "create", title: "Who sold most", steps }),
  },
  {
    task,
    decides: "check_task",
    play: ({ text }) =>
      decision("check_task", {
        missing: text.includes("report.md (") ? [] : [{ what: "The report", reason: "report.md was not handed over." }],
      }),
  },
  check(salesSteps.compute, /Revenue per region: .*Most: [^\n.]+\./),
  check(salesSteps.report, /<file name="report\.md"[^>]*>\s*(# Revenue by region\n\n.* is the most\.)/),
  {
    title: `${salesTasks.planning} (flow planning)`,
    task,
    play: ({ text }) =>
      words(
        stepReports(text)
          .map((step) => `- ${step.agent}: ${step.text || step.reason}`)
          .join("\n"),
      ),
  },
];

/** A step is done when its report or its file shows this. */
function check(step: string, sign: RegExp): Script {
  return {
    task: `The step: ${step}`,
    decides: "check_step",
    play({ text }) {
      const found = sign.exec(text);
      return found === null
        ? decision("check_step", { verdict: "not_met", evidence: "", reason: "What was expected is not there." })
        : decision("check_step", { verdict: "met", evidence: found[1] ?? found[0], reason: "It is there." });
    },
  };
}
